// Links in the way, files cut off, two restores at once.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "clients/restore/partial_file.h"
#include "clients/restore/restore_fixture.h"

namespace bimbackup::restore {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class SafetyTest : public RestoreTest {
 protected:
  SafetyTest() {
    std::filesystem::create_directories(At("Tower"));
    std::filesystem::create_directories(outside_);
    storage::WriteWholeFile(outside_ + "/a", "outside");
  }

  std::map<std::string, std::string> Outside() const {
    std::map<std::string, std::string> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(outside_)) {
      found[entry.path().filename()] =
          storage::ReadWholeFile(entry.path().string());
    }
    return found;
  }

  std::string PartialOf(const ManifestEntry& entry) const {
    return At(
        absl::StrCat("Tower/", PartialName(entry.path.back(), entry.sha256)));
  }

  const std::string outside_ = folder_ / "outside";
};

TEST_F(SafetyTest, ALinkInAFoldersPlaceIsNotFollowed) {
  PutSnapshot({storage_.Folder(""), storage_.Folder("Plans"),
               storage_.File("Plans/a", "inside"), storage_.File("b", "b")});
  std::filesystem::create_symlink(outside_, At("Tower/Plans"));
  ASSERT_OK(Run());
  EXPECT_THAT(Outside(), ElementsAre(Pair("a", "outside")));
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/b")), "b");
  EXPECT_EQ(summary_.failed, 2);
  EXPECT_THAT(observer_.messages_["Tower/Plans/a"], HasSubstr("symbolic link"));
  // Nor in a dry run.
  options_.dry_run = true;
  ASSERT_OK(Run());
  EXPECT_EQ(summary_.failed, 2);
}

TEST_F(SafetyTest, ALinkInAFilesPlaceIsReplacedAndNotFollowed) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "inside")});
  std::filesystem::create_symlink(outside_ + "/a", At("Tower/a"));
  ASSERT_OK(Run());
  EXPECT_THAT(Outside(), ElementsAre(Pair("a", "outside")));
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/a")), "inside");
  EXPECT_FALSE(std::filesystem::is_symlink(At("Tower/a")));
}

TEST_F(SafetyTest, AFolderInAFilesPlaceStays) {
  PutSnapshot({storage_.Folder(""), storage_.File("a", "inside")});
  std::filesystem::create_directories(At("Tower/a/b"));
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.lines_, ElementsAre("failed Tower/a"));
  EXPECT_THAT(Restored(), ElementsAre(Pair("Tower/", ""), Pair("Tower/a/", ""),
                                      Pair("Tower/a/b/", "")));
}

TEST_F(SafetyTest, LinksUnderATemporaryNameAreNotWrittenThrough) {
  const auto soft = storage_.File("soft", "inside 1");
  const auto hard = storage_.File("hard", "inside 2");
  PutSnapshot({storage_.Folder(""), hard, soft});
  std::filesystem::create_symlink(outside_ + "/a", PartialOf(soft));
  std::filesystem::create_hard_link(outside_ + "/a", PartialOf(hard));
  ASSERT_OK(Run());
  EXPECT_THAT(Outside(), ElementsAre(Pair("a", "outside")));
  EXPECT_THAT(Restored(),
              ElementsAre(Pair("Tower/", ""), Pair("Tower/hard", "inside 2"),
                          Pair("Tower/soft", "inside 1")));
}

TEST_F(SafetyTest, GoesOnWhereAFileWasCutOff) {
  std::string bytes(3 << 20, 'x');
  bytes.back() = 'y';
  const auto file = storage_.File("big", bytes);
  PutSnapshot({storage_.Folder(""), file});
  storage::WriteWholeFile(PartialOf(file), bytes.substr(0, 2 << 20));
  ASSERT_OK(Run());
  EXPECT_EQ(storage::ReadWholeFile(At("Tower/big")), bytes);
  EXPECT_EQ(observer_.bytes_, 3 << 20);
  // The last mebibyte, and the end.
  EXPECT_EQ(faulty_.faults().calls(storage::StorageCall::kReadBlob), 3);
}

TEST_F(SafetyTest, WhatWasTornByAPowerCutStartsAgain) {
  const auto file = storage_.File("a", "bytes");
  const auto longer = storage_.File("b", "more bytes");
  PutSnapshot({storage_.Folder(""), file, longer});
  storage::WriteWholeFile(PartialOf(file), std::string(3, '\0'));
  storage::WriteWholeFile(PartialOf(longer), std::string(30, '\0'));
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(),
              ElementsAre(Pair("Tower/", ""), Pair("Tower/a", "bytes"),
                          Pair("Tower/b", "more bytes")));
  EXPECT_EQ(observer_.bytes_, 15);
}

TEST_F(SafetyTest, AWholeTemporaryFileOnlyGetsItsName) {
  const auto file = storage_.File("a", "bytes");
  PutSnapshot({storage_.Folder(""), file});
  storage::WriteWholeFile(PartialOf(file), "bytes");
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(), Contains(Pair("Tower/a", "bytes")));
}

TEST_F(SafetyTest, AFileThatAnotherRestoreWritesIsLeftToIt) {
  const auto file = storage_.File("a", "bytes");
  PutSnapshot({storage_.Folder(""), file, storage_.File("b", "b")});
  storage::WriteWholeFile(PartialOf(file), "by");
  const storage::local::UniqueFd other(
      open(PartialOf(file).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  ASSERT_OK(Run());
  EXPECT_THAT(observer_.messages_["Tower/a"], HasSubstr("another restore"));
  EXPECT_EQ(storage::ReadWholeFile(PartialOf(file)), "by");
  EXPECT_EQ(summary_.restored, 1);
}

TEST_F(SafetyTest, SpecialFilesAreReplacedAndNotRead) {
  const auto file = storage_.File("a", "");
  PutSnapshot({storage_.Folder(""), file});
  ASSERT_EQ(mkfifo(At("Tower/a").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(PartialOf(file).c_str(), 0600), 0);
  ASSERT_OK(Run());
  EXPECT_THAT(Restored(), ElementsAre(Pair("Tower/", ""), Pair("Tower/a", "")));
  EXPECT_TRUE(std::filesystem::is_regular_file(At("Tower/a")));
}

}  // namespace
}  // namespace bimbackup::restore
