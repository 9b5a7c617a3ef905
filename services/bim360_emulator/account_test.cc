#include "services/bim360_emulator/account.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

using absl_testing::StatusIs;

class AccountTest : public testing::Test {
 protected:
  explicit AccountTest(RollupMode mode = RollupMode::kPerfect,
                       int64_t delay_pages = 0)
      : account_({1, mode, absl::Seconds(30), delay_pages}, clock_) {
    project_ = account_.AddProject("P", ProjectKind::kAcc);
    top_ = account_.AddFolder(account_.RootFolder(project_), "Top",
                              FolderType::kNormal);
    inner_ = account_.AddFolder(top_, "Inner", FolderType::kNormal);
    FileSpec spec;
    spec.size = 10;
    spec.modified = 1'650'000'000;
    account_.AddItem(inner_, "a.txt", spec);
    account_.SettleRollups();
  }

  int64_t Rollup(uint32_t folder) {
    return account_.FindFolder(project_, folder)->rollup;
  }
  ContentsPage List(uint32_t folder, ContentsQuery query = {}) {
    return account_.ListContents(project_, folder, query).value();
  }
  NodePath At(std::vector<std::string> path) { return {"P", std::move(path)}; }

  FakeClock clock_;
  Account account_;
  uint32_t project_ = 0;
  uint32_t top_ = 0;
  uint32_t inner_ = 0;
};

TEST_F(AccountTest, RollupIsTheNewestVersionBelow) {
  EXPECT_EQ(Rollup(inner_), 1'650'000'000);
  EXPECT_EQ(Rollup(top_), 1'650'000'000);
}

TEST_F(AccountTest, EveryChangeReachesEveryAncestorAtATimeOfItsOwn) {
  int64_t before = Rollup(top_);
  const auto moved = [&] {
    const int64_t now = Rollup(top_);
    const bool changed = now > before;
    before = now;
    return changed;
  };
  ASSERT_OK(account_.CreateFile(At({"Top", "Inner", "b.txt"}), FileSpec()));
  EXPECT_TRUE(moved());
  ASSERT_OK(account_.ChangeFile(At({"Top", "Inner", "b.txt"}), FileSpec()));
  EXPECT_TRUE(moved());
  ASSERT_OK(account_.Rename(At({"Top", "Inner", "b.txt"}), "c.txt"));
  EXPECT_TRUE(moved());
  ASSERT_OK(account_.Move(At({"Top", "Inner", "c.txt"}), At({"Top"})));
  EXPECT_TRUE(moved());
  ASSERT_OK(account_.Delete(At({"Top", "c.txt"})));
  EXPECT_TRUE(moved());
  ASSERT_OK(account_.CreateFolder(At({"Top", "Inner", "New"})));
  EXPECT_TRUE(moved());
}

TEST_F(AccountTest, AMoveReachesBothSides) {
  ASSERT_OK(account_.CreateFolder(At({"Other"})));
  const int64_t inner_before = Rollup(inner_);
  ASSERT_OK(account_.Move(At({"Top", "Inner", "a.txt"}), At({"Other"})));
  EXPECT_GT(Rollup(inner_), inner_before);
  EXPECT_TRUE(List(inner_).items.empty());
  const auto tops = account_.TopFolders(project_);
  EXPECT_EQ(tops->at(1).rollup, Rollup(top_));
}

TEST_F(AccountTest, AFolderMovesAndIsRenamedWithAllItHolds) {
  ASSERT_OK(account_.CreateFolder(At({"Other"})));
  ASSERT_OK(account_.Move(At({"Top", "Inner"}), At({"Other"})));
  ASSERT_OK(account_.Rename(At({"Other", "Inner"}), "Renamed"));
  ASSERT_OK(account_.ChangeFile(At({"Other", "Renamed", "a.txt"}), FileSpec()));
  EXPECT_THAT(account_.Move(At({"Other"}), At({"Other", "Renamed"})),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(AccountTest, NamesAreTakenOnceAmongTheLiving) {
  EXPECT_THAT(account_.CreateFile(At({"Top", "Inner", "a.txt"}), FileSpec()),
              StatusIs(absl::StatusCode::kAlreadyExists));
  ASSERT_OK(account_.Delete(At({"Top", "Inner", "a.txt"})));
  EXPECT_OK(account_.CreateFile(At({"Top", "Inner", "a.txt"}), FileSpec()));
  EXPECT_OK(account_.CreateFile(At({"Top", "Inner", "A.txt"}), FileSpec()));
}

TEST_F(AccountTest, DeletedFilesAreHiddenNotGone) {
  ASSERT_OK(account_.Delete(At({"Top", "Inner", "a.txt"})));
  EXPECT_TRUE(List(inner_).items.empty());
  EXPECT_EQ(List(inner_).folder.object_count, 1);
  ContentsQuery all;
  all.hidden = true;
  ASSERT_EQ(List(inner_, all).items.size(), 1);
  EXPECT_TRUE(List(inner_, all).items[0].hidden);
}

TEST_F(AccountTest, ANewVersionHasOtherBytesAndTheOldOneStays) {
  const uint64_t old_key = List(inner_).items[0].tip.storage_key;
  FileSpec spec;
  spec.content = ContentKind::kLiteral;
  spec.bytes = "new";
  ASSERT_OK(account_.ChangeFile(At({"Top", "Inner", "a.txt"}), spec));
  const ItemView item = List(inner_).items[0];
  EXPECT_EQ(item.tip.number, 2);
  EXPECT_EQ(item.tip.size, 3);
  EXPECT_NE(item.tip.storage_key, old_key);
  const auto versions = account_.ListVersions(project_, item.key);
  ASSERT_EQ(versions->size(), 2);
  EXPECT_EQ(versions->at(1).storage_key, old_key);
  EXPECT_EQ(account_.FindObject(old_key)->version.number, 1);
  EXPECT_OK(account_.OpenObject(old_key));
  EXPECT_EQ(account_.FindVersion(project_, item.version_key, 1)->tip.size, 10);
}

TEST_F(AccountTest, PagesAreCutBeforeTheFilter) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(account_.CreateFolder(At({"Top", absl::StrCat("F", i)})));
    ASSERT_OK(account_.CreateFile(At({"Top", absl::StrCat("f", i)}), {}));
  }
  ContentsQuery query;
  query.limit = 4;
  query.folders = false;
  EXPECT_TRUE(List(top_, query).items.empty());
  EXPECT_TRUE(List(top_, query).has_next);
  query.page = 1;
  EXPECT_EQ(List(top_, query).items.size(), 2);
  query.page = 2;
  EXPECT_EQ(List(top_, query).items.size(), 3);
  EXPECT_FALSE(List(top_, query).has_next);
}

TEST_F(AccountTest, ArchivedProjectsLeaveTheListing) {
  ASSERT_OK(account_.SetProjectArchived("P", true));
  EXPECT_TRUE(account_.ListProjects().empty());
  ASSERT_OK(account_.SetProjectArchived("P", false));
  EXPECT_EQ(account_.ListProjects().size(), 1);
}

TEST_F(AccountTest, NodesOfOtherProjectsAreNotFound) {
  const uint32_t other = account_.AddProject("Q", ProjectKind::kAcc);
  EXPECT_THAT(account_.FindFolder(other, top_),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(account_.FindItem(other, 0),
              StatusIs(absl::StatusCode::kNotFound));
}

class ContentOnlyTest : public AccountTest {
 protected:
  ContentOnlyTest() : AccountTest(RollupMode::kContentOnly) {}
};

TEST_F(ContentOnlyTest, OnlyNewBytesMoveTheRollup) {
  const int64_t before = Rollup(top_);
  ASSERT_OK(account_.CreateFolder(At({"Top", "Empty"})));
  ASSERT_OK(account_.Rename(At({"Top", "Inner", "a.txt"}), "b.txt"));
  ASSERT_OK(account_.Move(At({"Top", "Inner", "b.txt"}), At({"Top", "Empty"})));
  ASSERT_OK(account_.Delete(At({"Top", "Empty", "b.txt"})));
  EXPECT_EQ(Rollup(top_), before);
  ASSERT_OK(account_.CreateFile(At({"Top", "Inner", "c.txt"}), FileSpec()));
  EXPECT_GT(Rollup(top_), before);
}

class LateTest : public AccountTest {
 protected:
  LateTest() : AccountTest(RollupMode::kLate) {}
};

TEST_F(LateTest, ChangesShowAfterTheDelay) {
  const int64_t before = Rollup(top_);
  ASSERT_OK(account_.CreateFile(At({"Top", "Inner", "c.txt"}), FileSpec()));
  List(top_);
  EXPECT_EQ(Rollup(top_), before);
  clock_.Advance(absl::Seconds(31));
  List(top_);
  EXPECT_GT(Rollup(top_), before);
}

class LateByPagesTest : public AccountTest {
 protected:
  LateByPagesTest() : AccountTest(RollupMode::kLate, 3) {}
};

TEST_F(LateByPagesTest, ChangesShowAfterSoManyPages) {
  const int64_t before = Rollup(top_);
  ASSERT_OK(account_.Delete(At({"Top", "Inner", "a.txt"})));
  for (int i = 0; i < 3; ++i) {
    List(top_);
    EXPECT_EQ(Rollup(top_), before);
  }
  List(top_);
  EXPECT_GT(Rollup(top_), before);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
