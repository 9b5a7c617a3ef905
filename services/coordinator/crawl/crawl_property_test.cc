// Random accounts, changed at random between crawls: the catalog must follow.

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawl_harness.h"

namespace bimbackup::crawl {
namespace {

using Call = bim360::FakeBim360Client::Call;

// Changes the harness's account, and remembers what is where.
class RandomAccount {
 public:
  RandomAccount(CrawlHarness& harness, uint64_t seed)
      : harness_(harness), random_(seed) {
    for (int i = 0; i < 3; ++i) {
      bim360::Project project;
      project.id = absl::StrCat("b.", i);
      project.name = absl::StrCat("Project ", i);
      project.root_folder_id = absl::StrCat("root", i);
      harness_.client.AddProject(project);
      folders_.push_back({project.root_folder_id, "", -1, i});
    }
  }

  void Change() {
    switch (random_.Next() % 10) {
      case 0:
      case 1:
        return AddFolder();
      case 2:
        return RenameFolder();
      case 3:
        return MoveFolder();
      case 4:
        return RemoveFolder();
      case 5:
        return ChangeFile();
      case 6:
        return MoveFile();
      case 7:
        return RemoveFile();
      default:
        return AddFile();
    }
  }

  // An id of a folder that exists.
  std::string AnyFolder() { return folders_[PickFolder()].id; }
  uint64_t Next() { return random_.Next(); }
  int folder_count() const { return static_cast<int>(folders_.size()); }

 private:
  struct Folder {
    std::string id;
    std::string name;
    int parent;
    int project;
    bool removed = false;
  };
  struct File {
    bim360::Item item;
    int folder;
    bool removed = false;
  };

  bool Exists(int folder) const {
    for (; folder >= 0; folder = folders_[folder].parent) {
      if (folders_[folder].removed) return false;
    }
    return true;
  }

  bool LiesIn(int folder, int above) const {
    for (; folder >= 0; folder = folders_[folder].parent) {
      if (folder == above) return true;
    }
    return false;
  }

  int PickFolder() {
    while (true) {
      const int folder = random_.Next() % folders_.size();
      if (Exists(folder)) return folder;
    }
  }

  // -1 where chance finds none.
  int PickFile() {
    for (int i = 0; i < 20 && !files_.empty(); ++i) {
      const int file = random_.Next() % files_.size();
      if (!files_[file].removed && Exists(files_[file].folder)) return file;
    }
    return -1;
  }

  void PutFolder(int folder) {
    bim360::Folder listed;
    listed.id = folders_[folder].id;
    listed.name = folders_[folder].name;
    harness_.client.AddFolder(folders_[folders_[folder].parent].id, listed);
  }

  void AddFolder() {
    const int parent = PickFolder();
    const std::string name = absl::StrCat("d", ++names_);
    folders_.push_back(
        {absl::StrCat("id-", name), name, parent, folders_[parent].project});
    PutFolder(folders_.size() - 1);
  }

  void RenameFolder() {
    const int folder = PickFolder();
    if (folders_[folder].parent < 0) return;
    folders_[folder].name = absl::StrCat("d", ++names_);
    PutFolder(folder);
  }

  void MoveFolder() {
    const int folder = PickFolder();
    const int target = PickFolder();
    if (folders_[folder].parent < 0 || LiesIn(target, folder) ||
        folders_[folder].project != folders_[target].project) {
      return;
    }
    harness_.client.RemoveFolder(folders_[folders_[folder].parent].id,
                                 folders_[folder].id);
    harness_.client.LinkFolder(folders_[target].id, folders_[folder].id);
    folders_[folder].parent = target;
  }

  void RemoveFolder() {
    const int folder = PickFolder();
    if (folders_[folder].parent < 0) return;
    harness_.client.RemoveFolder(folders_[folders_[folder].parent].id,
                                 folders_[folder].id);
    folders_[folder].removed = true;
  }

  void AddFile() {
    const int folder = PickFolder();
    const std::string name = absl::StrCat("f", ++names_, ".rvt");
    files_.push_back(
        {harness_.client.AddFile(folders_[folder].id, name, names_), folder});
  }

  void ChangeFile() {
    const int file = PickFile();
    if (file < 0) return;
    bim360::Item& item = files_[file].item;
    if (random_.Next() % 3 == 0) {
      item.name = absl::StrCat("f", ++names_, ".rvt");
    } else {
      ++item.version_number;
      absl::StrAppend(&item.version_id, "+");
      absl::StrAppend(&item.storage_urn, "+");
    }
    harness_.client.AddItem(folders_[files_[file].folder].id, item);
  }

  void MoveFile() {
    const int file = PickFile();
    const int target = PickFolder();
    if (file < 0 ||
        folders_[files_[file].folder].project != folders_[target].project) {
      return;
    }
    RemoveFromFolder(file);
    files_[file].folder = target;
    harness_.client.AddItem(folders_[target].id, files_[file].item);
  }

  void RemoveFile() {
    const int file = PickFile();
    if (file < 0) return;
    RemoveFromFolder(file);
    files_[file].removed = true;
  }

  void RemoveFromFolder(int file) {
    harness_.client.RemoveItem(folders_[files_[file].folder].id,
                               files_[file].item.item_id);
  }

  CrawlHarness& harness_;
  SeededRandom random_;
  int names_ = 0;
  std::vector<Folder> folders_;
  std::vector<File> files_;
};

class CrawlPropertyTest : public testing::TestWithParam<int> {
 protected:
  CrawlHarness harness_;
};

TEST_P(CrawlPropertyTest, FollowsEveryChange) {
  RandomAccount account(harness_, GetParam());
  harness_.client.SetPageSize(3);
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 15; ++i) account.Change();
    harness_.Backup();
    ASSERT_EQ(harness_.Tree(), harness_.TrueTree()) << "round " << round;
    ASSERT_THAT(harness_.Unlisted(), testing::IsEmpty());
  }
}

TEST_P(CrawlPropertyTest, AsksNothingTwiceWhileNothingChanges) {
  RandomAccount account(harness_, GetParam());
  for (int i = 0; i < 100; ++i) account.Change();
  harness_.Backup();
  harness_.client.ResetCalls();
  const catalog::BackupRecord second = harness_.Backup();
  EXPECT_EQ(harness_.client.CallCount(Call::kListFolderContents), 3);
  EXPECT_EQ(harness_.client.CallCount(Call::kListTopFolders), 0);
  EXPECT_EQ(second.counters.transfers, 0);
  EXPECT_EQ(second.counters.folders_listed, 0);
}

TEST_P(CrawlPropertyTest, RecheckFindsWhatRollupsHide) {
  RandomAccount account(harness_, GetParam());
  for (int i = 0; i < 100; ++i) account.Change();
  harness_.Backup();
  harness_.client.SetRollupsMove(false);
  for (int i = 0; i < 20; ++i) account.Change();
  const int64_t folders = (*harness_.catalog->GetTotals()).folders;
  const int64_t count = 5;
  const int64_t runs = (folders + count - 1) / count;
  // What a late run finds may lead to folders that were listed before.
  for (int64_t i = 0; i < runs; ++i) {
    const catalog::BackupCounters counted = harness_.Backup(count).counters;
    // Some that were listed may lie below one that turned out to be gone.
    EXPECT_LE(counted.folders_skipped,
              std::max<int64_t>((*harness_.catalog->GetTotals()).folders -
                                    counted.folders_listed,
                                0));
  }
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

// Whatever fails, what exists and was known stays known; once nothing fails,
// everything is as it should be.
TEST_P(CrawlPropertyTest, LosesNothingWhenListingsFail) {
  RandomAccount account(harness_, GetParam());
  harness_.client.SetPageSize(3);
  for (int i = 0; i < 60; ++i) account.Change();
  harness_.Backup();
  for (int round = 0; round < 10; ++round) {
    std::set<std::string> known;
    for (const auto& [path, entry] : harness_.Tree()) known.insert(entry);
    for (int i = 0; i < 10; ++i) account.Change();
    const bool fails = round % 2 == 0;
    for (int i = 0; fails && i < 3; ++i) {
      harness_.client.FailNext(Call::kListFolderContents, account.AnyFolder(),
                               account.Next() % 2 == 0
                                   ? absl::UnavailableError("HTTP 503")
                                   : absl::PermissionDeniedError("HTTP 403"),
                               -1);
    }
    harness_.Backup();
    harness_.client.ClearFailures();
    std::set<std::string> ids;
    for (const auto& [path, entry] : harness_.Tree()) {
      ids.insert(entry.substr(0, entry.find(" unlisted")));
    }
    for (const auto& [path, entry] : harness_.TrueTree()) {
      if (known.count(entry) > 0) {
        EXPECT_EQ(ids.count(entry), 1) << path << " " << entry;
      }
    }
    if (fails) continue;
    ASSERT_EQ(harness_.Tree(), harness_.TrueTree()) << "round " << round;
    ASSERT_THAT(harness_.Unlisted(), testing::IsEmpty());
  }
}

TEST_P(CrawlPropertyTest, GoesOnAfterBeingCancelledAnywhere) {
  RandomAccount account(harness_, GetParam());
  harness_.client.SetPageSize(3);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 15; ++i) account.Change();
    for (int run = 0; run < 2; ++run) {
      const catalog::BackupNumber backup = harness_.Start();
      CrawlerOptions options = harness_.Options(backup);
      Crawler crawler(harness_.client, *harness_.catalog, harness_.clock,
                      options);
      std::atomic<int> calls = account.Next() % 20;
      harness_.client.SetBeforeCall([&](Call, const std::string&) {
        if (--calls == 0) crawler.Cancel();
      });
      crawler.Run().status().IgnoreError();
      harness_.client.SetBeforeCall(nullptr);
      harness_.StoreAll(backup);
      harness_.End(backup, catalog::BackupState::kCancelled);
    }
    if (round % 2 == 0) harness_.Reopen();
    harness_.Backup();
    ASSERT_EQ(harness_.Tree(), harness_.TrueTree()) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CrawlPropertyTest, testing::Range(1, 9));

}  // namespace
}  // namespace bimbackup::crawl
