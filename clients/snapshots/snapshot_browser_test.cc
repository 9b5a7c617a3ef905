#include "clients/snapshots/snapshot_browser.h"

#include "absl/strings/str_format.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "clients/storage/faulty_storage.h"
#include "gmock/gmock.h"
#include "services/common/fake_clock.h"

namespace bimbackup::snapshots {
namespace {

using absl_testing::StatusIs;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

bool Never() { return false; }

class SnapshotBrowserTest : public testing::Test {
 protected:
  // Two projects of `files` files each.
  void PutAccount(int files) {
    std::vector<storage::format::ManifestEntry> entries = {fixture_.Folder("")};
    for (int i = 0; i < files; ++i) {
      entries.push_back(fixture_.File(absl::StrFormat("%05d.txt", i), "same"));
    }
    std::vector<storage::format::SnapshotProject> projects;
    for (const char* name : {"Alpha", "Beta"}) {
      auto mine = entries;
      for (auto& entry : mine) entry = fixture_.InProject(entry, name);
      mine[0].stored_path = name;
      projects.push_back(fixture_.PutManifest(mine));
    }
    alpha_ = projects[0].manifest_sha256;
    fixture_.PutSnapshot(1, projects);
  }

  // Reads the snapshot page by page; every entry's stored path.
  std::vector<std::string> ReadPages(int limit, const Glob* glob = nullptr) {
    std::vector<std::string> paths;
    EntryPosition start{fixture_.Id(1), 0, 0};
    while (true) {
      auto page = browser_.ListEntries(start, glob, limit, Never);
      EXPECT_OK(page);
      if (!page.ok()) return paths;
      for (const auto& entry : page->entries) {
        paths.push_back(entry.stored_path);
      }
      if (!page->next.has_value()) return paths;
      start = *page->next;
      if (forget_) clock_.Advance(absl::Hours(1));
    }
  }

  int64_t Reads() {
    return storage_.faults().calls(storage::StorageCall::kReadObject);
  }

  SnapshotsFixture fixture_;
  storage::FaultyStorage storage_{fixture_.storage()};
  FakeClock clock_;
  SnapshotBrowser browser_{storage_, clock_};
  // Let every cursor expire between pages.
  bool forget_ = false;
  std::string alpha_;
};

TEST_F(SnapshotBrowserTest, PagesHoldEveryEntryOnceInOrder) {
  PutAccount(10);
  const std::vector<std::string> whole = ReadPages(1000);
  EXPECT_THAT(whole, SizeIs(22));
  for (const int limit : {1, 3, 11, 22}) {
    EXPECT_EQ(ReadPages(limit), whole);
  }
  forget_ = true;
  EXPECT_EQ(ReadPages(3), whole);
}

TEST_F(SnapshotBrowserTest, LongPathsMakeShortPages) {
  std::vector<storage::format::ManifestEntry> entries = {fixture_.Folder("")};
  for (int i = 0; i < 600; ++i) {
    auto entry = fixture_.Folder(absl::StrFormat("%03d", i));
    entry.path.push_back(std::string(5000, 'x'));
    entries.push_back(entry);
  }
  fixture_.PutSnapshot(1, {fixture_.PutManifest(entries)});
  EntryPosition start{fixture_.Id(1), 0, 0};
  const auto page = browser_.ListEntries(start, nullptr, 1000, Never);
  ASSERT_OK(page);
  EXPECT_LT(page->entries.size(), 300);
  EXPECT_THAT(ReadPages(1000), SizeIs(601));
}

TEST_F(SnapshotBrowserTest, FiltersByAGlob) {
  PutAccount(10);
  const Glob glob = *Glob::Parse("Beta/*3.txt");
  EXPECT_THAT(ReadPages(1, &glob), testing::ElementsAre("Beta/00003.txt"));
}

TEST_F(SnapshotBrowserTest, APageCostsNoMoreTheFurtherBackItStands) {
  PutAccount(2000);
  ReadPages(100);
  const int64_t kept = Reads();
  forget_ = true;
  ReadPages(100);
  const int64_t reread = Reads() - kept;
  // The snapshot once, two manifests once, against all that for each page.
  EXPECT_LT(kept, 20);
  EXPECT_GT(reread, 80);
}

TEST_F(SnapshotBrowserTest, TwoReadersAtOnceDoNotDisturbEachOther) {
  PutAccount(10);
  const EntryPosition start{fixture_.Id(1), 0, 0};
  const auto first = browser_.ListEntries(start, nullptr, 5, Never);
  const auto second = browser_.ListEntries(start, nullptr, 5, Never);
  ASSERT_OK(first);
  ASSERT_OK(second);
  for (int i = 0; i < 2; ++i) {
    const auto next = browser_.ListEntries(*first->next, nullptr, 1, Never);
    ASSERT_OK(next);
    EXPECT_EQ(next->entries.at(0).stored_path, "Alpha/00004.txt");
  }
}

TEST_F(SnapshotBrowserTest, NamesADamagedManifest) {
  PutAccount(10);
  fixture_.Overwrite(fixture_.ManifestPath(alpha_), "torn");
  EXPECT_THAT(browser_.ListEntries({fixture_.Id(1), 0, 0}, nullptr, 5, Never),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(alpha_), HasSubstr("Alpha"))));
  std::filesystem::remove(fixture_.ManifestPath(alpha_));
  EXPECT_THAT(browser_.ListEntries({fixture_.Id(1), 0, 0}, nullptr, 5, Never),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is missing")));
}

TEST_F(SnapshotBrowserTest, NamesATornSnapshotAmongTheOthers) {
  PutAccount(1);
  fixture_.PutSnapshot(2, {});
  fixture_.Overwrite(fixture_.SnapshotPath(fixture_.Id(2)), "{\"format\":");
  const auto page = browser_.ListSnapshots("", 10);
  ASSERT_OK(page);
  ASSERT_THAT(page->snapshots, SizeIs(2));
  EXPECT_EQ(page->snapshots[0].snapshot.id, fixture_.Id(2));
  EXPECT_THAT(page->snapshots[0].damage, HasSubstr(fixture_.Id(2)));
  EXPECT_EQ(page->snapshots[1].damage, "");
  EXPECT_THAT(page->snapshots[1].snapshot.projects, SizeIs(2));
}

TEST_F(SnapshotBrowserTest, EndsWhenItsCallerHasGone) {
  PutAccount(10);
  EXPECT_THAT(browser_.ListEntries({fixture_.Id(1), 0, 0}, nullptr, 5,
                                   [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(SnapshotBrowserTest, NothingStandsBehindTheLastProject) {
  PutAccount(1);
  for (const int64_t project : {2, 99, -1}) {
    const auto page =
        browser_.ListEntries({fixture_.Id(1), project, 0}, nullptr, 5, Never);
    ASSERT_OK(page);
    EXPECT_THAT(page->entries, SizeIs(0));
    EXPECT_FALSE(page->next.has_value());
  }
}

}  // namespace
}  // namespace bimbackup::snapshots
