#include "clients/snapshot_diff/snapshot_diff.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::snapshot_diff {
namespace {

using absl_testing::StatusIs;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string PathOf(const ManifestEntry& entry) {
  return absl::StrCat(entry.project_name, entry.path.empty() ? "" : "/",
                      absl::StrJoin(entry.path, "/"));
}

// As the command line shows it.
std::string Describe(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kAdded:
      EXPECT_FALSE(change.before.has_value());
      return "+ " + PathOf(*change.after);
    case ChangeKind::kChanged:
      EXPECT_TRUE(change.before.has_value());
      return "M " + PathOf(*change.after);
    case ChangeKind::kMoved:
      return absl::StrCat("> ", PathOf(*change.before), " -> ",
                          PathOf(*change.after));
    case ChangeKind::kRemoved:
      EXPECT_FALSE(change.after.has_value());
      return "- " + PathOf(*change.before);
  }
  return "?";
}

class SnapshotDiffTest : public testing::Test,
                         protected snapshots::SnapshotsFixture {
 protected:
  using Entries = std::vector<ManifestEntry>;

  SnapshotDiffTest() : diff_(storage(), clock_, scratch_.path()) {}

  // Gives the entry another path, and keeps its item.
  static ManifestEntry At(ManifestEntry entry, const std::string& path) {
    const ManifestEntry there = Folder(path);
    entry.path = there.path;
    entry.stored_path = there.stored_path;
    return entry;
  }

  // Writes snapshots 1 and 2 of project Tower; all their differences, read in
  // pages of this size.
  std::vector<std::string> DiffOf(const Entries& before, const Entries& after,
                                  int page_size = 1000) {
    PutSnapshot(1, {PutManifest(before)});
    PutSnapshot(2, {PutManifest(after)});
    return Diff(page_size);
  }

  std::vector<std::string> Diff(int page_size = 1000,
                                const Glob* glob = nullptr) {
    std::vector<std::string> lines;
    absl::StatusOr<DiffPosition> begin = diff_.Begin("", "");
    EXPECT_OK(begin);
    std::optional<DiffPosition> next = *begin;
    while (next.has_value()) {
      const absl::StatusOr<DiffPage> page =
          diff_.ListChanges(*next, glob, page_size, [] { return false; });
      EXPECT_OK(page);
      if (!page.ok()) break;
      EXPECT_LE(page->changes.size(), page_size);
      for (const Change& change : page->changes) {
        lines.push_back(Describe(change));
      }
      next = page->next;
      if (expire_) clock_.Advance(absl::Hours(1));
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
    return lines;
  }

  FakeClock clock_;
  storage::TempFolder scratch_;
  SnapshotDiff diff_;
  // Cursors do not live until the next page.
  bool expire_ = false;
};

TEST_F(SnapshotDiffTest, SaysWhatWasAddedChangedMovedAndRemoved) {
  const ManifestEntry plan = File("A/plan.dwg", "plan");
  EXPECT_THAT(
      DiffOf({Folder(""), Folder("A"), plan, File("A/same.txt", "same"),
              File("A/text.txt", "old"), File("A/x.txt", "x"), Folder("Gone")},
             {Folder(""), Folder("A"), File("A/same.txt", "same"),
              File("A/text.txt", "new", 2), Folder("B"),
              At(plan, "B/plan 2.dwg"), File("B/y.txt", "y")}),
      ElementsAre("M Tower/A/text.txt", "- Tower/A/x.txt", "+ Tower/B",
                  "> Tower/A/plan.dwg -> Tower/B/plan 2.dwg", "+ Tower/B/y.txt",
                  "- Tower/Gone"));
}

TEST_F(SnapshotDiffTest, EqualBytesAndVersionAreNoChangeWhateverTheStatus) {
  ManifestEntry carried = File("a.txt", "a");
  carried.status = EntryStatus::kCarried;
  carried.reason = "its folder could not be listed";
  EXPECT_THAT(DiffOf({Folder(""), File("a.txt", "a")}, {Folder(""), carried}),
              IsEmpty());
}

TEST_F(SnapshotDiffTest, AnotherVersionWithTheSameBytesIsAChange) {
  EXPECT_THAT(DiffOf({Folder(""), File("a.txt", "a", 1)},
                     {Folder(""), File("a.txt", "a", 2)}),
              ElementsAre("M Tower/a.txt"));
}

TEST_F(SnapshotDiffTest, AMovedFolderMovesWithAllItHolds) {
  const ManifestEntry file = File("A/x.txt", "x");
  EXPECT_THAT(
      DiffOf({Folder(""), Folder("A"), file},
             {Folder(""), At(Folder("A"), "Z"), At(file, "Z/x.txt")}),
      ElementsAre("> Tower/A -> Tower/Z", "> Tower/A/x.txt -> Tower/Z/x.txt"));
}

TEST_F(SnapshotDiffTest, TwoFilesThatChangeTheirPlacesHaveMoved) {
  const ManifestEntry a = File("a.txt", "a");
  const ManifestEntry b = File("b.txt", "b");
  EXPECT_THAT(
      DiffOf({Folder(""), a, b}, {Folder(""), At(b, "a.txt"), At(a, "b.txt")}),
      ElementsAre("> Tower/b.txt -> Tower/a.txt",
                  "> Tower/a.txt -> Tower/b.txt"));
}

TEST_F(SnapshotDiffTest, AnotherItemInTheSamePlace) {
  ManifestEntry other = File("a.txt", "other");
  other.item_id = "another";
  other.version_id = "another?version=1";
  const ManifestEntry a = File("a.txt", "a");
  EXPECT_THAT(DiffOf({Folder(""), a}, {Folder(""), other}),
              ElementsAre("M Tower/a.txt"));
  // The former one lives on elsewhere.
  PutSnapshot(3, {PutManifest({Folder(""), a})});
  PutSnapshot(4, {PutManifest({Folder(""), other, At(a, "b.txt")})});
  EXPECT_THAT(Diff(),
              ElementsAre("+ Tower/a.txt", "> Tower/a.txt -> Tower/b.txt"));
  // The newcomer was elsewhere before.
  PutSnapshot(5, {PutManifest({Folder(""), a, At(other, "b.txt")})});
  PutSnapshot(6, {PutManifest({Folder(""), other})});
  EXPECT_THAT(Diff(),
              ElementsAre("> Tower/b.txt -> Tower/a.txt", "- Tower/a.txt"));
}

TEST_F(SnapshotDiffTest, AFileInTheSameFoldersPlace) {
  EXPECT_THAT(DiffOf({Folder(""), Folder("a")}, {Folder(""), File("a", "a")}),
              ElementsAre("+ Tower/a", "- Tower/a"));
}

TEST_F(SnapshotDiffTest, OnlyAnotherStoredNameIsNoChange) {
  ManifestEntry renamed = File("a.txt", "a");
  renamed.stored_path = "Tower/a (x).txt";
  EXPECT_THAT(DiffOf({Folder(""), File("a.txt", "a")}, {Folder(""), renamed}),
              IsEmpty());
}

TEST_F(SnapshotDiffTest, OfARenamedProjectOnlyTheRootMoves) {
  Entries before = {Folder(""), Folder("A"), File("A/a.txt", "a")};
  Entries after = before;
  for (ManifestEntry& entry : after) {
    entry.project_name = "Tower 2";
    entry.stored_path.replace(0, 5, "Tower 2");
  }
  EXPECT_THAT(DiffOf(before, after), ElementsAre("> Tower -> Tower 2"));
}

TEST_F(SnapshotDiffTest, ProjectsComeAndGoAndEqualOnesAreNotRead) {
  const auto whole = [&](const std::string& name) {
    return PutManifest(
        {InProject(Folder(""), name), InProject(File("f", name), name)});
  };
  const auto unread = whole("middle");
  PutSnapshot(1, {whole("alpha"), unread});
  PutSnapshot(2, {unread, whole("omega")});
  std::filesystem::remove(ManifestPath(unread.manifest_sha256));
  EXPECT_THAT(Diff(),
              ElementsAre("- alpha", "- alpha/f", "+ omega", "+ omega/f"));
}

TEST_F(SnapshotDiffTest, PagesJoinSeamlesslyWithAndWithoutTheirCursors) {
  Entries before = {Folder("")};
  Entries after = {Folder("")};
  for (int i = 10; i < 30; ++i) {
    before.push_back(File(absl::StrCat("a", i), "x"));
    after.push_back(At(before.back(), absl::StrCat("b", i)));
  }
  const std::vector<std::string> whole = DiffOf(before, after);
  EXPECT_EQ(whole.size(), 20);
  for (const bool expire : {false, true}) {
    expire_ = expire;
    for (const int page_size : {1, 3, 20}) EXPECT_EQ(Diff(page_size), whole);
  }
}

TEST_F(SnapshotDiffTest, AGlobLooksAtBothPaths) {
  const ManifestEntry a = File("A/x.txt", "x");
  PutSnapshot(1, {PutManifest({Folder(""), Folder("A"), a})});
  PutSnapshot(
      2,
      {PutManifest({Folder(""), Folder("A"), Folder("B"), At(a, "B/x.txt")})});
  const auto diff = [&](const char* pattern) {
    const Glob glob = *Glob::Parse(pattern);
    return Diff(1, &glob);
  };
  EXPECT_THAT(diff("Tower/A/*"),
              ElementsAre("> Tower/A/x.txt -> Tower/B/x.txt"));
  EXPECT_THAT(diff("Tower/B/*"),
              ElementsAre("> Tower/A/x.txt -> Tower/B/x.txt"));
  EXPECT_THAT(diff("Tower/*"), ElementsAre("+ Tower/B"));
}

TEST_F(SnapshotDiffTest, TheDefaultIsTheNewestAgainstTheOneBefore) {
  EXPECT_THAT(diff_.Begin("", ""), StatusIs(absl::StatusCode::kNotFound));
  const auto project = PutManifest({Folder("")});
  PutSnapshot(1, {project});
  EXPECT_THAT(diff_.Begin("", "-"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("is the first")));
  PutSnapshot(2, {project});
  PutSnapshot(3, {project});
  ASSERT_OK_AND_ASSIGN(const DiffPosition newest, diff_.Begin("", ""));
  EXPECT_EQ(newest.from_id, Id(2));
  EXPECT_EQ(newest.to_id, Id(3));
  ASSERT_OK_AND_ASSIGN(const DiffPosition older, diff_.Begin("", Id(2)));
  EXPECT_EQ(older.from_id, Id(1));
  ASSERT_OK_AND_ASSIGN(const DiffPosition both, diff_.Begin(Id(1), "-"));
  EXPECT_EQ(both.from_id, Id(1));
  EXPECT_EQ(both.to_id, Id(3));
  EXPECT_THAT(diff_.Begin(Id(1), Id(9)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Id(9))));
}

TEST_F(SnapshotDiffTest, EndsWhenItsCallerHasGone) {
  PutSnapshot(1, {PutManifest({Folder("")})});
  PutSnapshot(2, {PutManifest({Folder(""), File("a", "a")})});
  EXPECT_THAT(
      diff_.ListChanges(*diff_.Begin("", ""), nullptr, 10, [] { return true; }),
      StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(SnapshotDiffTest, ADamagedManifestIsNamed) {
  const auto project = PutManifest({Folder(""), File("a", "a")});
  PutSnapshot(1, {PutManifest({Folder("")})});
  PutSnapshot(2, {project});
  Overwrite(ManifestPath(project.manifest_sha256), "torn");
  EXPECT_THAT(diff_.ListChanges(*diff_.Begin("", ""), nullptr, 10,
                                [] { return false; }),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace bimbackup::snapshot_diff
