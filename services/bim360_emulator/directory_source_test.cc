#include "services/bim360_emulator/directory_source.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "services/common/clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

namespace fs = std::filesystem;

class DirectorySourceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "directory_source_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "alpha/deep/deeper");
    fs::create_directories(root_ / "beta");
    Write("alpha/a.txt", "one");
    Write("alpha/deep/deeper/b.txt", "two");
    source_.emplace(root_.string(), account_);
    ASSERT_OK(source_->Scan());
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root_ / path) << text;
  }
  // "project/path" to entry.
  std::map<std::string, TreeEntry> Tree() {
    std::map<std::string, TreeEntry> tree;
    account_.VisitTree([&tree](const TreeEntry& entry) {
      tree[entry.project_name + "/" + absl::StrJoin(entry.path, "/")] = entry;
    });
    return tree;
  }

  fs::path root_;
  SystemClock clock_;
  Account account_{{1, RollupMode::kPerfect, absl::ZeroDuration(), 0}, clock_};
  std::optional<DirectorySource> source_;
};

TEST_F(DirectorySourceTest, EachTopFolderIsAProject) {
  const auto tree = Tree();
  EXPECT_EQ(account_.ListProjects().size(), 2);
  EXPECT_TRUE(tree.contains("alpha/Project Files/a.txt"));
  EXPECT_TRUE(tree.contains("alpha/Project Files/deep/deeper/b.txt"));
  EXPECT_TRUE(tree.contains("beta/Project Files"));
  const auto content =
      account_.OpenObject(tree.at("alpha/Project Files/a.txt").tip.storage_key);
  ASSERT_OK(content);
  EXPECT_EQ(ContentDigest(**content, DigestKind::kSha1),
            "fe05bcdcdc4928012781a5f1a2a77cbb5398e106");
}

TEST_F(DirectorySourceTest, FilesInTheRootAreAProjectOfItsName) {
  Write("loose.txt", "x");
  source_->Rescan();
  EXPECT_TRUE(
      Tree().contains(root_.filename().string() + "/Project Files/loose.txt"));
}

TEST_F(DirectorySourceTest, ChangesOnDiskAreNewVersions) {
  const TreeEntry before = Tree().at("alpha/Project Files/a.txt");
  source_->Rescan();
  EXPECT_EQ(Tree().at("alpha/Project Files/a.txt").tip.number, 1);
  Write("alpha/a.txt", "changed");
  source_->Rescan();
  const TreeEntry after = Tree().at("alpha/Project Files/a.txt");
  EXPECT_EQ(after.key, before.key);
  EXPECT_EQ(after.tip.number, 2);
  EXPECT_EQ(after.tip.size, 7);
  EXPECT_THAT(account_.OpenObject(before.tip.storage_key),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DirectorySourceTest, WhatVanishesIsDeletedAndMayComeBack) {
  const TreeEntry before = Tree().at("alpha/Project Files/a.txt");
  fs::remove(root_ / "alpha/a.txt");
  fs::remove_all(root_ / "alpha/deep");
  source_->Rescan();
  EXPECT_FALSE(Tree().contains("alpha/Project Files/a.txt"));
  EXPECT_FALSE(Tree().contains("alpha/Project Files/deep"));
  Write("alpha/a.txt", "one");
  fs::create_directories(root_ / "alpha/deep/deeper");
  source_->Rescan();
  ASSERT_TRUE(Tree().contains("alpha/Project Files/a.txt"));
  EXPECT_TRUE(Tree().contains("alpha/Project Files/deep/deeper"));
  EXPECT_NE(Tree().at("alpha/Project Files/a.txt").key, before.key);
}

TEST_F(DirectorySourceTest, IdentifiersOutliveARestart) {
  Account again({1, RollupMode::kPerfect, absl::ZeroDuration(), 0}, clock_);
  DirectorySource source(root_.string() + "/", again);
  Write("alpha/0 first.txt", "shifts the others");
  ASSERT_OK(source.Scan());
  const TreeEntry before = Tree().at("alpha/Project Files/a.txt");
  bool found = false;
  again.VisitTree([&](const TreeEntry& entry) {
    if (entry.path.back() != "a.txt") return;
    found = true;
    EXPECT_EQ(entry.key, before.key);
    EXPECT_EQ(entry.version_key, before.version_key);
    EXPECT_EQ(entry.tip.storage_key, before.tip.storage_key);
  });
  EXPECT_TRUE(found);
}

TEST_F(DirectorySourceTest, LinksAreLeftOutAndOddNamesPassed) {
  fs::create_symlink("a.txt", root_ / "alpha/link");
  fs::create_directory_symlink("deep", root_ / "alpha/link_to_folder");
  Write("alpha/caf\xe9.txt", "latin-1");
  Write("alpha/caf\xc3\xa9.txt", "utf-8");
  source_->Rescan();
  const auto tree = Tree();
  EXPECT_FALSE(tree.contains("alpha/Project Files/link"));
  EXPECT_FALSE(tree.contains("alpha/Project Files/link_to_folder"));
  EXPECT_TRUE(tree.contains("alpha/Project Files/caf%E9.txt"));
  EXPECT_TRUE(tree.contains("alpha/Project Files/caf\xc3\xa9.txt"));
}

TEST_F(DirectorySourceTest, AMissingRootIsAnError) {
  Account account({1, RollupMode::kPerfect, absl::ZeroDuration(), 0}, clock_);
  DirectorySource source("/no/such/folder", account);
  EXPECT_THAT(source.Scan(),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
