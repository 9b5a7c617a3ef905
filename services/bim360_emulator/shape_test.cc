#include "services/bim360_emulator/shape.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

using absl_testing::StatusIs;

struct Totals {
  int64_t projects = 0;
  int64_t folders = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t largest = 0;
  size_t depth = 0;
  // Files whose folder is among the deepest third of the account's.
  int64_t deep_files = 0;
  std::vector<TreeEntry> entries;
};

int64_t CountDeepFiles(const Totals& totals) {
  std::map<std::vector<std::string>, int64_t> files_in;
  std::vector<std::pair<size_t, int64_t>> folders;
  const auto key = [](const TreeEntry& entry, size_t length) {
    std::vector<std::string> path(entry.path.begin(),
                                  entry.path.begin() + length);
    path.push_back(entry.project_guid);
    return path;
  };
  for (const TreeEntry& entry : totals.entries) {
    if (!entry.is_folder) ++files_in[key(entry, entry.path.size() - 1)];
  }
  for (const TreeEntry& entry : totals.entries) {
    if (!entry.is_folder) continue;
    folders.emplace_back(entry.path.size(),
                         files_in[key(entry, entry.path.size())]);
  }
  std::sort(folders.rbegin(), folders.rend());
  int64_t deep = 0;
  for (size_t i = 0; i < folders.size() / 3; ++i) deep += folders[i].second;
  return deep;
}

Totals Build(absl::string_view shape, double scale = 1, uint64_t seed = 1) {
  static SystemClock clock;
  Account account({seed, RollupMode::kPerfect, absl::ZeroDuration(), 0}, clock);
  BuildShape(ParseShape(shape).value(), scale, account);
  Totals totals;
  totals.projects = account.ListProjects().size();
  account.VisitTree([&totals](const TreeEntry& entry) {
    totals.entries.push_back(entry);
    if (entry.is_folder) {
      ++totals.folders;
      totals.depth = std::max(totals.depth, entry.path.size());
      return;
    }
    ++totals.files;
    totals.bytes += entry.tip.size;
    totals.largest = std::max(totals.largest, entry.tip.size);
  });
  totals.deep_files = CountDeepFiles(totals);
  return totals;
}

TEST(ShapeTest, DemoHasItsExactCounts) {
  const Totals totals = Build("demo");
  EXPECT_EQ(totals.projects, 1);
  EXPECT_EQ(totals.folders, 30);
  EXPECT_EQ(totals.files, 136);
  EXPECT_EQ(totals.bytes, 300'000'000);
  EXPECT_LE(totals.largest, 20'000'000);
  EXPECT_GE(totals.largest, 15'000'000);
  EXPECT_GE(totals.deep_files, 136 * 9 / 10);
}

TEST(ShapeTest, LargeProjectHasItsExactCounts) {
  const Totals totals = Build("large-project");
  EXPECT_EQ(totals.projects, 1);
  EXPECT_EQ(totals.folders, 973);
  EXPECT_EQ(totals.files, 10'653);
  EXPECT_EQ(totals.bytes, 26'000'000'000);
  EXPECT_LE(totals.largest, 500'000'000);
  EXPECT_GE(totals.deep_files, 10'653 * 9 / 10);
}

TEST(ShapeTest, AccountHasItsExactCountsAndDeepFiles) {
  const Totals totals = Build("account");
  EXPECT_EQ(totals.projects, 170);
  EXPECT_EQ(totals.folders, 11'737);
  EXPECT_EQ(totals.files, 40'230);
  EXPECT_EQ(totals.bytes, 100'000'000'000);
  EXPECT_GE(totals.deep_files, 40'230 * 9 / 10);
  EXPECT_LE(totals.deep_files, 40'230 * 92 / 100);
}

TEST(ShapeTest, SizeScaleShrinksBytesAlone) {
  const Totals totals = Build("account", 0.001);
  EXPECT_EQ(totals.files, 40'230);
  EXPECT_EQ(totals.bytes, 100'000'000);
}

TEST(ShapeTest, CustomShapesAreMetExactly) {
  for (const int64_t projects : {1, 3}) {
    for (const int64_t folders : {3, 7, 50}) {
      for (const int64_t depth : {1, 2, 5}) {
        const Totals totals = Build(
            absl::StrCat("custom:projects=", projects, ",folders=", folders,
                         ",files=41,bytes=1MB,depth=", depth));
        EXPECT_EQ(totals.projects, projects);
        EXPECT_EQ(totals.folders, folders);
        EXPECT_EQ(totals.files, 41);
        EXPECT_EQ(totals.bytes, 1'000'000);
        if (depth > 1) {
          EXPECT_LE(totals.depth, depth);
        }
      }
    }
  }
}

TEST(ShapeTest, ExtrasComeOnTop) {
  const Totals totals = Build(
      "custom:kind=bim360,folders=10,files=5,service_folders=3,"
      "plans_documents=2");
  EXPECT_EQ(totals.folders, 13);
  EXPECT_EQ(totals.files, 7);
  const auto plans = std::find_if(
      totals.entries.begin(), totals.entries.end(),
      [](const TreeEntry& entry) { return entry.path[0] == "Plans"; });
  ASSERT_NE(plans, totals.entries.end());
}

TEST(ShapeTest, TheSameSeedMakesTheSameAccount) {
  const Totals first = Build("demo");
  const Totals again = Build("demo");
  const Totals other = Build("demo", 1, 2);
  ASSERT_EQ(first.entries.size(), again.entries.size());
  for (size_t i = 0; i < first.entries.size(); ++i) {
    EXPECT_EQ(first.entries[i].path, again.entries[i].path);
    EXPECT_EQ(first.entries[i].tip.size, again.entries[i].tip.size);
  }
  EXPECT_NE(first.entries[0].project_guid, other.entries[0].project_guid);
}

TEST(ShapeTest, NamesInAFolderAreDistinct) {
  std::map<std::vector<std::string>, int> count;
  for (const TreeEntry& entry : Build("large-project").entries) {
    EXPECT_EQ(++count[entry.path], 1) << entry.path.back();
  }
}

TEST(ShapeTest, BadShapesAreRefused) {
  for (const char* bad :
       {"", "demos", "custom:projects=0", "custom:files=x", "custom:colour=1",
        "custom:kind=team", "custom:folders=0",
        "custom:projects=3,kind=mixed,folders=5"}) {
    EXPECT_THAT(ParseShape(bad), StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
