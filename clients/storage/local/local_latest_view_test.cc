#include "clients/storage/local/local_latest_view.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>

#include "clients/storage/local/local_storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage::local {
namespace {

using ::absl_testing::StatusIs;

const absl::Time kModified = absl::FromUnixSeconds(1600000000);

class LocalLatestViewTest : public testing::Test {
 protected:
  void Open(const std::string& mode) {
    OpenOptions options;
    options.create = true;
    options.latest = mode;
    storage_ = *LocalStorage::Open(folder_.path(), options);
    view_ = storage_->OpenLatestView();
  }

  std::string Blob(const std::string& bytes) {
    const std::string sha256 = Sha256Hex(bytes);
    auto writer = *storage_->OpenBlobWriter("urn:" + bytes);
    EXPECT_OK(writer->WriteAt(0, bytes));
    std::promise<absl::Status> done;
    writer->Commit(sha256, bytes.size(),
                   [&](const absl::Status& status) { done.set_value(status); });
    EXPECT_OK(done.get_future().get());
    return sha256;
  }

  struct stat Stat(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat((folder_ / path).c_str(), &info), 0) << path;
    return info;
  }

  std::string Read(const std::string& path) {
    return ReadWholeFile(folder_ / ("latest/" + path));
  }

  LatestView& view() { return **view_; }

  bool TemporaryIsEmpty() { return std::filesystem::is_empty(folder_ / "tmp"); }

  TempFolder folder_;
  std::unique_ptr<LocalStorage> storage_;
  absl::StatusOr<std::unique_ptr<LatestView>> view_ =
      absl::UnknownError("not opened");
};

TEST_F(LocalLatestViewTest, HardLinksShareTheBlobAndItsTime) {
  Open("hardlink");
  const std::string sha256 = Blob("hello");
  ASSERT_OK(view().PutFile("a/b/c.txt", sha256, kModified));
  EXPECT_EQ(Read("a/b/c.txt"), "hello");
  EXPECT_EQ(Stat("latest/a/b/c.txt").st_ino, Stat(BlobKey(sha256)).st_ino);
  EXPECT_EQ(Stat("latest/a/b/c.txt").st_mtime, 1600000000);
  // A second name must not change the time of the first.
  ASSERT_OK(view().PutFile("d", sha256, kModified + absl::Hours(1)));
  EXPECT_EQ(Stat("latest/a/b/c.txt").st_mtime, 1600000000);
  EXPECT_TRUE(TemporaryIsEmpty());
}

TEST_F(LocalLatestViewTest, CopiesHaveBytesAndTimeOfTheirOwn) {
  Open("copy");
  const std::string sha256 = Blob("hello");
  ASSERT_OK(view().PutFile("a", sha256, kModified));
  ASSERT_OK(view().PutFile("b", sha256, kModified + absl::Hours(1)));
  EXPECT_EQ(Read("a"), "hello");
  EXPECT_NE(Stat("latest/a").st_ino, Stat(BlobKey(sha256)).st_ino);
  EXPECT_EQ(Stat("latest/a").st_mtime, 1600000000);
  EXPECT_EQ(Stat("latest/b").st_mtime, 1600003600);
  EXPECT_EQ(Stat("latest/a").st_mode & 0222, 0);
  EXPECT_TRUE(TemporaryIsEmpty());
}

TEST_F(LocalLatestViewTest, AutoNeverCopies) {
  Open("auto");
  const std::string sha256 = Blob("hello");
  if (absl::IsUnimplemented(view_.status())) return;
  ASSERT_OK(view_);
  ASSERT_OK(view().PutFile("a", sha256, kModified));
  EXPECT_EQ(Read("a"), "hello");
  EXPECT_EQ(Stat("latest/a").st_mtime, 1600000000);
}

TEST_F(LocalLatestViewTest, ReflinksAreRefusedWhereThereAreNone) {
  Open("reflink");
  if (view_.ok()) {
    const std::string sha256 = Blob("hello");
    ASSERT_OK(view().PutFile("a", sha256, kModified));
    EXPECT_NE(Stat("latest/a").st_ino, Stat(BlobKey(sha256)).st_ino);
  } else {
    EXPECT_THAT(view_, StatusIs(absl::StatusCode::kFailedPrecondition,
                                testing::HasSubstr("--latest=copy")));
  }
  EXPECT_TRUE(TemporaryIsEmpty());
}

TEST_F(LocalLatestViewTest, OffMeansThatThereIsNone) {
  Open("off");
  EXPECT_THAT(view_, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "latest"));
}

TEST_F(LocalLatestViewTest, AFileIsReplacedAndEveryCallMayBeRepeated) {
  for (const char* mode : {"hardlink", "copy"}) {
    Open(mode);
    const std::string one = Blob("one");
    const std::string two = Blob("two");
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(view().PutFolder("f/g"));
      ASSERT_OK(view().PutFile("f/x", one, kModified));
      EXPECT_EQ(Read("f/x"), "one");
      ASSERT_OK(view().PutFile("f/x", two, kModified));
      ASSERT_OK(view().PutFile("f/x", two, kModified));
      EXPECT_EQ(Read("f/x"), "two");
    }
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(view().Remove("f/x"));
      ASSERT_OK(view().Remove("f/g"));
      ASSERT_OK(view().Remove("f"));
      ASSERT_OK(view().Remove("f/x/deeper"));
    }
    EXPECT_OK(view().Sync());
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "latest"));
    EXPECT_TRUE(TemporaryIsEmpty());
  }
}

TEST_F(LocalLatestViewTest, AFileMayTakeTheEmptyPlaceOfAFolderAndBack) {
  Open("hardlink");
  const std::string sha256 = Blob("hello");
  ASSERT_OK(view().PutFolder("a"));
  ASSERT_OK(view().PutFile("a", sha256, kModified));
  EXPECT_EQ(Read("a"), "hello");
  ASSERT_OK(view().PutFile("a/b", sha256, kModified));
  EXPECT_EQ(Read("a/b"), "hello");
  EXPECT_THAT(view().PutFile("a", sha256, kModified),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LocalLatestViewTest, PathsThatLeadOutAreRefused) {
  Open("hardlink");
  const std::string sha256 = Blob("hello");
  for (const char* path :
       {"", "..", "../a", "a/../../b", "/a", "a//b", "a/", ".", "a/./b"}) {
    EXPECT_THAT(view().PutFile(path, sha256, kModified),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
    EXPECT_THAT(view().PutFolder(path),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(view().Remove(path),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(view().PutFile("a", "../../bimbackup.json", kModified),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(LocalLatestViewTest, NoLinkIsFollowedOutOfTheView) {
  Open("hardlink");
  TempFolder outside;
  const std::string sha256 = Blob("hello");
  std::filesystem::create_directory_symlink(outside.path(),
                                            folder_ / "latest/link");
  ASSERT_OK(view().PutFile("link/x", sha256, kModified));
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
  EXPECT_EQ(Read("link/x"), "hello");
}

TEST_F(LocalLatestViewTest, AMissingBlobIsNotFound) {
  Open("hardlink");
  EXPECT_THAT(view().PutFile("a", Sha256Hex("none"), kModified),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LocalLatestViewTest, AFolderWithForeignFilesIsNotRemoved) {
  Open("hardlink");
  ASSERT_OK(view().PutFolder("a"));
  WriteWholeFile(folder_ / "latest/a/mine", "x");
  EXPECT_THAT(view().Remove("a"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK(view().RemoveTree("a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "latest"));
}

TEST_F(LocalLatestViewTest, ATreeIsRemovedWholeAndTheViewStaysOfUse) {
  Open("hardlink");
  const std::string sha256 = Blob("hello");
  for (int i = 0; i < 1200; ++i) {
    ASSERT_OK(view().PutFile("a/b/" + std::to_string(i), sha256, kModified));
  }
  ASSERT_OK(view().PutFolder("a/c/d/e"));
  ASSERT_OK(view().RemoveTree("a/c"));
  ASSERT_OK(view().RemoveTree("a/b/7"));
  ASSERT_OK(view().RemoveTree("none/at/all"));
  EXPECT_EQ(Read("a/b/8"), "hello");
  ASSERT_OK(view().RemoveTree(""));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "latest"));
  ASSERT_OK(view().PutFile("a/b/c", sha256, kModified));
  EXPECT_EQ(Read("a/b/c"), "hello");
}

TEST_F(LocalLatestViewTest, ATreeMayBeDeeperThanOnePathCanBeLong) {
  Open("hardlink");
  const std::string sha256 = Blob("hello");
  std::string path;
  for (int i = 0; i < 30; ++i) path += std::string(250, 'd') + "/";
  ASSERT_OK(view().PutFile(path + "x", sha256, kModified));
  EXPECT_EQ(Stat(BlobKey(sha256)).st_nlink, 2);
  ASSERT_OK(view().Remove(path + "x"));
  EXPECT_EQ(Stat(BlobKey(sha256)).st_nlink, 1);
  ASSERT_OK(view().RemoveTree(""));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "latest"));
}

TEST_F(LocalLatestViewTest, ABlobWithoutLinksToGiveIsCopied) {
  Open("hardlink");
  const std::string sha256 = Blob("");
  // ext4 gives 65,000 links; where there is no such limit nothing is shown.
  const std::string blob = folder_ / BlobKey(sha256);
  std::filesystem::create_directory(folder_ / "links");
  int links = 1;
  while (links < 66000 &&
         link(blob.c_str(),
              (folder_ / ("links/" + std::to_string(links))).c_str()) == 0) {
    ++links;
  }
  ASSERT_OK(view().PutFile("a", sha256, kModified));
  ASSERT_OK(view().PutFile("a", sha256, kModified));
  EXPECT_EQ(Stat("latest/a").st_size, 0);
  if (links < 66000) {
    EXPECT_NE(Stat("latest/a").st_ino, Stat(BlobKey(sha256)).st_ino);
    EXPECT_EQ(Stat("latest/a").st_mtime, 1600000000);
  }
}

}  // namespace
}  // namespace bimbackup::storage::local
