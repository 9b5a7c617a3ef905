#include "services/coordinator/snapshot/latest_updater.h"

#include <filesystem>
#include <random>

#include "clients/storage/faulty_storage.h"
#include "services/coordinator/snapshot/snapshot_committer.h"
#include "services/coordinator/snapshot/snapshot_fixture.h"

namespace bimbackup::snapshot {
namespace {

using ::absl_testing::StatusIs;
using storage::StorageCall;
using storage::format::EntryKind;
using storage::format::Snapshot;

class LatestUpdaterTest : public SnapshotTest {
 protected:
  LatestUpdaterTest() : faulty_(*storage_) {}

  Snapshot Commit() {
    SnapshotCommitter committer(tree_, *storage_, clock_, "account", {});
    return *committer.Commit(Backup(++number_),
                             catalog::BackupState::kSucceeded);
  }

  absl::Status Update(const Snapshot& snapshot) {
    LatestUpdater updater(tree_, faulty_);
    return updater.Update(snapshot);
  }

  // What the snapshot's manifests say should be under latest/.
  std::map<std::string, std::string> Expected(const Snapshot& snapshot) {
    std::map<std::string, std::string> expected;
    for (const auto& project : snapshot.projects) {
      for (const auto& entry : ReadManifest(project.manifest_sha256)) {
        if (entry.kind == EntryKind::kFolder) {
          expected[entry.stored_path + "/"] = "";
        } else if (!entry.sha256.empty()) {
          auto reader = *storage_->OpenBlob(entry.sha256);
          std::string bytes(5, '\0');
          EXPECT_OK(reader->ReadAt(0, bytes.data(), 5));
          expected[entry.stored_path] = bytes;
        }
      }
    }
    return expected;
  }

  int Puts() { return faulty_.faults().calls(StorageCall::kPutLatest); }

  storage::FaultyStorage faulty_;
  int number_ = 0;
};

TEST_F(LatestUpdaterTest, TheViewShowsTheSnapshotAndFollowsChanges) {
  tree_.AddProject("b.1", "Tower");
  tree_.AddFolder("b.1", "", "f1", "Plans");
  tree_.AddFolder("b.1", "", "f2", "Empty");
  tree_.AddFile("b.1", "f1", "i1", "A/B", Blob("one"));
  tree_.AddFile("b.1", "f1", "i2", "gone", Blob("two"));
  tree_.AddFile("b.1", "f1", "i3", "none", "");
  const Snapshot first = Commit();
  ASSERT_OK(Update(first));
  EXPECT_EQ(ReadLatest(), Expected(first));
  EXPECT_EQ(ReadLatest()["Tower/Plans/A%2FB"], "one..");
  EXPECT_FALSE(ReadLatest().contains("Tower/Plans/none"));

  tree_.children[{"b.1", "f1"}].files.erase(
      tree_.children[{"b.1", "f1"}].files.begin() + 1);
  tree_.children[{"b.1", "f1"}].files[0].sha256 = Blob("new");
  tree_.children[{"b.1", ""}].folders.pop_back();
  tree_.AddFile("b.1", "", "i4", "Empty", Blob("file"));
  const Snapshot second = Commit();
  ASSERT_OK(Update(second));
  EXPECT_EQ(ReadLatest(), Expected(second));
  EXPECT_EQ(ReadLatest()["Tower/Empty"], "file.");
}

TEST_F(LatestUpdaterTest, AnUnchangedProjectIsNotTouched) {
  for (const char* id : {"b.1", "b.2"}) {
    tree_.AddProject(id, id);
    tree_.AddFile(id, "", std::string("i") + id, "x", Blob("x"));
  }
  ASSERT_OK(Update(Commit()));
  const int puts = Puts();
  ASSERT_OK(Update(Commit()));
  EXPECT_EQ(Puts(), puts);
  tree_.AddFile("b.2", "", "new", "new", Blob("new"));
  ASSERT_OK(Update(Commit()));
  EXPECT_EQ(Puts(), puts + 1);
}

TEST_F(LatestUpdaterTest, ProjectsMayExchangeTheirNames) {
  tree_.AddProject("b.1", "A");
  tree_.AddFile("b.1", "", "i1", "x", Blob("one"));
  tree_.AddProject("b.2", "B");
  tree_.AddFile("b.2", "", "i2", "x", Blob("two"));
  ASSERT_OK(Update(Commit()));
  tree_.projects["b.1"].name = "B";
  tree_.projects["b.2"].name = "A";
  const Snapshot second = Commit();
  ASSERT_OK(Update(second));
  EXPECT_EQ(ReadLatest(), Expected(second));
  EXPECT_EQ(ReadLatest()["A/x"], "two..");
}

TEST_F(LatestUpdaterTest, AProjectThatIsGoneLeavesTheView) {
  tree_.AddProject("b.1", "A");
  tree_.AddProject("b.2", "B");
  tree_.AddFile("b.2", "", "i2", "x", Blob("two"));
  ASSERT_OK(Update(Commit()));
  tree_.projects.erase("b.2");
  const Snapshot second = Commit();
  ASSERT_OK(Update(second));
  EXPECT_EQ(ReadLatest(), Expected(second));
  EXPECT_FALSE(ReadLatest().contains("B/"));
}

TEST_F(LatestUpdaterTest, AForgetfulCatalogMakesTheViewAnew) {
  tree_.AddProject("b.1", "A");
  tree_.AddFile("b.1", "", "i1", "x", Blob("one"));
  const Snapshot snapshot = Commit();
  ASSERT_OK(Update(snapshot));
  std::filesystem::create_directories(folder_ / "latest/Old/deep/er");
  storage::WriteWholeFile(folder_ / "latest/Old/deep/er/file", "x");
  tree_.shown.clear();
  ASSERT_OK(Update(snapshot));
  EXPECT_EQ(ReadLatest(), Expected(snapshot));
}

TEST_F(LatestUpdaterTest, ALostManifestMakesTheViewAnew) {
  tree_.AddProject("b.1", "A");
  tree_.AddFile("b.1", "", "i1", "x", Blob("one"));
  const Snapshot first = Commit();
  ASSERT_OK(Update(first));
  tree_.children[{"b.1", ""}].files[0].name = "y";
  tree_.projects["b.1"].changed = true;
  const Snapshot second = Commit();
  std::filesystem::remove(folder_ / storage::format::ManifestKey(
                                        first.projects[0].manifest_sha256));
  ASSERT_OK(Update(second));
  EXPECT_EQ(ReadLatest(), Expected(second));
}

TEST_F(LatestUpdaterTest, AMissingBlobIsNamedAndTriedAgain) {
  tree_.AddProject("b.1", "A");
  tree_.AddFile("b.1", "", "i1", "x", Sha256Hex("late."));
  tree_.AddFile("b.1", "", "i2", "y", Blob("two"));
  const Snapshot snapshot = Commit();
  EXPECT_THAT(Update(snapshot),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("A/x")));
  EXPECT_EQ(ReadLatest()["A/y"], "two..");
  Blob("late.");
  ASSERT_OK(Update(snapshot));
  EXPECT_EQ(ReadLatest(), Expected(snapshot));
}

TEST_F(LatestUpdaterTest, ForeignFilesAreLeftAndDoNotStopTheUpdate) {
  tree_.AddProject("b.1", "A");
  tree_.AddFolder("b.1", "", "f1", "F");
  ASSERT_OK(Update(Commit()));
  storage::WriteWholeFile(folder_ / "latest/A/F/Thumbs.db", "x");
  tree_.children[{"b.1", ""}].folders.clear();
  tree_.projects["b.1"].changed = true;
  ASSERT_OK(Update(Commit()));
  EXPECT_EQ(ReadLatest()["A/F/Thumbs.db"], "x");
}

TEST_F(LatestUpdaterTest, NothingHappensWhereTheViewIsOff) {
  storage::OpenOptions options;
  options.url = folder_.path();
  options.latest = "off";
  auto without = *storage::OpenStorage(options);
  tree_.AddProject("b.1", "A");
  const Snapshot snapshot = Commit();
  LatestUpdater updater(tree_, *without);
  EXPECT_OK(updater.Update(snapshot));
  EXPECT_TRUE(tree_.shown.empty());
}

// A tree that changes at random, one change at a time.
class RandomTree {
 public:
  RandomTree(FakeTreeStore& tree, std::vector<std::string> blobs)
      : tree_(tree), blobs_(std::move(blobs)) {}

  void Change(std::mt19937& random) {
    const std::string project = "b." + std::to_string(random() % 3);
    if (!tree_.projects.contains(project)) tree_.AddProject(project, project);
    tree_.projects[project].changed = true;
    const std::string folder = AnyFolder(project, random);
    auto& children = tree_.children[{project, folder}];
    const std::string name(1, "abAB"[random() % 4]);
    const std::string id = "id" + std::to_string(++ids_);
    switch (random() % 8) {
      case 0:
      case 1:
        tree_.AddFolder(project, folder, id, name);
        break;
      case 2:
      case 3:
      case 4:
        tree_.AddFile(project, folder, id, name,
                      blobs_[random() % blobs_.size()]);
        break;
      case 5:
        if (!children.files.empty()) children.files.pop_back();
        break;
      case 6:
        if (!children.folders.empty()) children.folders.pop_back();
        break;
      case 7:
        tree_.projects[project].name = name;
        break;
    }
  }

 private:
  std::string AnyFolder(const std::string& project, std::mt19937& random) {
    std::string folder;
    while (random() % 3 != 0) {
      const auto& folders = tree_.children[{project, folder}].folders;
      if (folders.empty()) break;
      folder = folders[random() % folders.size()].folder_id;
    }
    return folder;
  }

  FakeTreeStore& tree_;
  const std::vector<std::string> blobs_;
  int ids_ = 0;
};

// Whatever breaks off wherever, the next whole update shows the snapshot.
TEST_F(LatestUpdaterTest, InterruptedUpdatesOfRandomTreesAreMadeUpFor) {
  std::mt19937 random(20260131);
  RandomTree changes(tree_, {Blob("1"), Blob("2"), Blob("3"), Blob("4"), ""});
  for (int round = 0; round < 80; ++round) {
    for (int i = random() % 12; i >= 0; --i) changes.Change(random);
    number_ = 0;
    SnapshotCommitter committer(tree_, *storage_, clock_, "account", {});
    catalog::BackupRecord backup = Backup(1);
    backup.id = "round" + std::to_string(1000 + round);
    ASSERT_OK_AND_ASSIGN(
        const Snapshot snapshot,
        committer.Commit(backup, catalog::BackupState::kSucceeded));
    if (random() % 2 == 0) {
      faulty_.faults().Fail(StorageCall::kPutLatest,
                            absl::UnavailableError("gone"), random() % 20, 1);
    } else {
      tree_.fail_at_change = 1 + random() % 8;
    }
    const bool whole = Update(snapshot).ok();
    faulty_.faults().Clear();
    tree_.fail_at_change = 0;
    if (!whole && random() % 3 == 0) continue;
    ASSERT_OK(Update(snapshot));
    ASSERT_EQ(ReadLatest(), Expected(snapshot)) << "round " << round;
  }
}

class LostViewTest : public LatestUpdaterTest {
 protected:
  LostViewTest() {
    for (const std::string id : {"b.1", "b.2"}) {
      tree_.AddProject(id, "Project " + id);
      tree_.AddFolder(id, "", id + "f", "Plans");
      tree_.AddFile(id, id + "f", id + "a", "a.pdf", Blob(id + "a"));
      tree_.AddFile(id, id + "f", id + "b", "b.pdf", Blob(id + "b"));
    }
  }
};

TEST_F(LostViewTest, DeletedViewIsMadeAgain) {
  const Snapshot first = Commit();
  ASSERT_OK(Update(first));
  std::filesystem::remove_all(folder_ / "latest");
  ASSERT_OK(Update(first));
  EXPECT_EQ(ReadLatest(), Expected(first));
  const int before = Puts();
  ASSERT_OK(Update(first));
  EXPECT_EQ(Puts(), before);
}

TEST_F(LostViewTest, DeletedFolderOfAProjectThatChangesIsWholeAgain) {
  ASSERT_OK(Update(Commit()));
  std::filesystem::remove_all(folder_ / "latest/Project b.2");
  tree_.AddFile("b.2", "b.2f", "c", "c.pdf", Blob("c"));
  const Snapshot second = Commit();
  ASSERT_OK(Update(second));
  EXPECT_EQ(ReadLatest(), Expected(second));
}

TEST_F(LostViewTest, RebuildingMendsWhatSomebodyTouched) {
  const Snapshot first = Commit();
  ASSERT_OK(Update(first));
  std::filesystem::remove(folder_ / "latest/Project b.1/Plans/a.pdf");
  storage::WriteWholeFile(folder_ / "latest/Project b.2/stray", "x");
  LatestUpdater updater(tree_, faulty_);
  int64_t put = 0;
  ASSERT_OK(updater.Rebuild(first, [&](int64_t entries) {
    put = entries;
    return absl::OkStatus();
  }));
  EXPECT_EQ(put, 8);
  EXPECT_EQ(ReadLatest(), Expected(first));
}

TEST_F(LostViewTest, RebuildingThatWasEndedIsGoneOnWith) {
  const Snapshot first = Commit();
  ASSERT_OK(Update(first));
  LatestUpdater updater(tree_, faulty_);
  EXPECT_THAT(updater.Rebuild(first,
                              [](int64_t entries) {
                                return entries < 5 ? absl::OkStatus()
                                                   : absl::AbortedError("no");
                              }),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_NE(ReadLatest(), Expected(first));
  ASSERT_OK(Update(first));
  EXPECT_EQ(ReadLatest(), Expected(first));
}

}  // namespace
}  // namespace bimbackup::snapshot
