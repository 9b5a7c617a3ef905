#include "services/file_scan/reader/input_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::file_scan::reader {
namespace {

namespace fs = std::filesystem;
using absl_testing::IsOk;
using absl_testing::StatusIs;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// A root with a neighbour that must not be seen.
class RootFolderTest : public testing::Test {
 protected:
  RootFolderTest() {
    std::string pattern = (fs::temp_directory_path() / "rootXXXXXX").string();
    base_ = mkdtemp(pattern.data());
    fs::create_directories(base_ / "root/folder/deep");
    Write(base_ / "root/file.txt");
    Write(base_ / "root/folder/deep/file.txt");
    Write(base_ / "secret.txt");
    auto root = RootFolder::Open((base_ / "root").string());
    EXPECT_THAT(root, IsOk());
    root_ = *std::move(root);
  }
  ~RootFolderTest() override { fs::remove_all(base_); }

  static void Write(const fs::path& path) { std::ofstream(path) << "line\n"; }

  void Link(const fs::path& target, const char* name) {
    fs::create_symlink(target, base_ / "root" / name);
  }

  fs::path base_;
  std::unique_ptr<RootFolder> root_;
};

TEST_F(RootFolderTest, OpensFilesBeneath) {
  for (const char* path : {"file.txt", "./file.txt", "folder/deep/file.txt",
                           "folder//deep/./file.txt"}) {
    ASSERT_OK_AND_ASSIGN(auto file, root_->OpenFile(path));
    EXPECT_EQ(file->size(), 5);
    EXPECT_EQ(fcntl(file->fd(), F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_F(RootFolderTest, FollowsLinksThatStayBeneath) {
  Link("folder/deep/file.txt", "link");
  fs::create_symlink("../../file.txt", base_ / "root/folder/deep/up");
  EXPECT_OK(root_->OpenFile("link"));
  EXPECT_OK(root_->OpenFile("folder/deep/up"));
}

TEST_F(RootFolderTest, RefusesPathsThatAreNotBeneathByTheirText) {
  for (const std::string path :
       {"", "/etc/passwd", "..", "../secret.txt", "folder/../../secret.txt",
        "folder/../file.txt", "../root/file.txt", "folder/.."}) {
    EXPECT_THAT(root_->OpenFile(path),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
  }
  EXPECT_THAT(root_->OpenFile(absl::string_view("file.txt\0x", 10)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RootFolderTest, LinksOutAreRefusedAlikeWhateverIsThere) {
  Link("../secret.txt", "relative");
  Link("../missing.txt", "dangling");
  Link(base_ / "secret.txt", "absolute");
  Link("/nothing/there", "nothing");
  Link("..", "parent");
  Link(base_ / "root/file.txt", "back");
  for (const std::string path :
       {"relative", "dangling", "absolute", "nothing", "parent/secret.txt",
        "parent/missing.txt", "parent", "back"}) {
    EXPECT_THAT(root_->OpenFile(path),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         "a symbolic link leads out of the root: " + path));
  }
}

TEST_F(RootFolderTest, RefusesMagicLinksAndLoops) {
  Link("/proc/self/fd/0", "magic");
  Link("loop", "loop");
  EXPECT_THAT(root_->OpenFile("magic"),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(root_->OpenFile("loop"),
              StatusIs(absl::StatusCode::kPermissionDenied));
  ASSERT_OK_AND_ASSIGN(auto proc, RootFolder::Open("/proc/self"));
  EXPECT_THAT(proc->OpenFile("fd/0"), Not(IsOk()));
  EXPECT_THAT(proc->OpenFile("root/etc/passwd"), Not(IsOk()));
}

TEST_F(RootFolderTest, RefusesWhatIsNotARegularFile) {
  ASSERT_EQ(mkfifo((base_ / "root/pipe").c_str(), 0600), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (base_ / "root/socket").string().copy(address.sun_path, 100);
  ASSERT_EQ(
      bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  for (const char* path : {"pipe", "socket", "folder", "."}) {
    EXPECT_THAT(root_->OpenFile(path),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not a regular file")))
        << path;
  }
  close(listener);
  ASSERT_OK_AND_ASSIGN(auto dev, RootFolder::Open("/dev"));
  for (const char* path : {"null", "zero", "tty"}) {
    EXPECT_THAT(dev->OpenFile(path),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << path;
  }
}

TEST_F(RootFolderTest, MissingFilesAreNotFound) {
  for (const char* path : {"missing", "file.txt/below", "missing/file.txt"}) {
    EXPECT_THAT(root_->OpenFile(path), StatusIs(absl::StatusCode::kNotFound))
        << path;
  }
}

TEST(RootFolderOpenTest, MustBeAFolderThatExists) {
  EXPECT_THAT(RootFolder::Open("/nothing/there"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(RootFolder::Open("/dev/null"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::file_scan::reader
