// What is particular to blobs in a folder: names, modes, locks, crashes.

#include <linux/magic.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>

#include "absl/strings/str_cat.h"
#include "clients/storage/local/commit_queue.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/local_blob_writer.h"
#include "clients/storage/local/local_storage.h"
#include "clients/storage/local/part_journal.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage::local {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LocalBlobTest : public testing::Test {
 protected:
  LocalBlobTest() : storage_(Open(true)) {}

  std::unique_ptr<LocalStorage> Open(bool create) {
    OpenOptions options;
    options.create = create;
    return *LocalStorage::Open(folder_.path(), options);
  }

  absl::Status Commit(BlobWriter& writer, absl::string_view bytes) {
    std::promise<absl::Status> done;
    writer.Commit(Sha256Hex(bytes), bytes.size(),
                  [&](const absl::Status& status) { done.set_value(status); });
    return done.get_future().get();
  }

  // Writes and records the first three of five bytes, as an attempt does
  // that dies then.
  void LeaveParts() {
    auto writer = *storage_->OpenBlobWriter("urn:a");
    ASSERT_OK(writer->SetIdentity({"urn:a", 5, "e1"}));
    ASSERT_OK(writer->WriteAt(0, "hel"));
    ASSERT_OK(writer->RecordRange({0, 3}));
  }

  std::string TemporaryFile(const std::string& suffix) {
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / "tmp")) {
      if (entry.path().string().ends_with(suffix)) return entry.path();
    }
    return "";
  }

  size_t CountTemporary() {
    return std::distance(std::filesystem::directory_iterator(folder_ / "tmp"),
                         std::filesystem::directory_iterator());
  }

  std::string BlobPath(absl::string_view bytes) {
    return folder_ / BlobKey(Sha256Hex(bytes));
  }

  TempFolder folder_;
  std::unique_ptr<LocalStorage> storage_;
};

TEST_F(LocalBlobTest, ABlobIsReadOnlyAndLeavesNothingTemporary) {
  LeaveParts();
  auto writer = *storage_->OpenBlobWriter("urn:a");
  ASSERT_OK(writer->WriteAt(3, "lo"));
  ASSERT_OK(Commit(*writer, "hello"));
  struct stat info;
  ASSERT_EQ(stat(BlobPath("hello").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0444);
  EXPECT_EQ(info.st_nlink, 1);
  writer.reset();
  EXPECT_EQ(CountTemporary(), 0);
}

TEST_F(LocalBlobTest, TemporaryNamesTellNothingOfTheObject) {
  LeaveParts();
  const std::string name =
      std::filesystem::path(TemporaryFile(".part")).filename();
  EXPECT_EQ(name, Sha256Hex("urn:a").substr(0, 32) + ".part");
  EXPECT_EQ(ReadWholeFile(TemporaryFile(".journal")).find("urn:"),
            std::string::npos);
}

TEST_F(LocalBlobTest, AnAttemptThatRecordedNothingLeavesNothing) {
  auto writer = *storage_->OpenBlobWriter("urn:a");
  ASSERT_OK(writer->WriteAt(0, "hel"));
  writer.reset();
  EXPECT_EQ(CountTemporary(), 0);
}

TEST_F(LocalBlobTest, AnExistingBlobOfTheSameSizeStands) {
  auto first = *storage_->OpenBlobWriter("urn:a");
  ASSERT_OK(first->WriteAt(0, "hello"));
  ASSERT_OK(Commit(*first, "hello"));
  struct stat before;
  ASSERT_EQ(stat(BlobPath("hello").c_str(), &before), 0);
  auto second = *storage_->OpenBlobWriter("urn:b");
  ASSERT_OK(second->WriteAt(0, "hello"));
  ASSERT_OK(Commit(*second, "hello"));
  second.reset();
  struct stat after;
  ASSERT_EQ(stat(BlobPath("hello").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(CountTemporary(), 0);
}

TEST_F(LocalBlobTest, ADamagedBlobOfAnotherSizeIsReplaced) {
  WriteWholeFile(BlobPath("hello"), "he");
  auto writer = *storage_->OpenBlobWriter("urn:a");
  ASSERT_OK(writer->WriteAt(0, "hello"));
  ASSERT_OK(Commit(*writer, "hello"));
  EXPECT_EQ(ReadWholeFile(BlobPath("hello")), "hello");
}

TEST_F(LocalBlobTest, ABlobThatIsSetAsideIsKeptForWhoeverLooks) {
  WriteWholeFile(BlobPath("hello"), "first");
  ASSERT_OK(storage_->SetAsideBlob(Sha256Hex("hello")));
  WriteWholeFile(BlobPath("hello"), "again");
  ASSERT_OK(storage_->SetAsideBlob(Sha256Hex("hello")));
  EXPECT_FALSE(std::filesystem::exists(BlobPath("hello")));
  EXPECT_EQ(ReadWholeFile(folder_ / DamagedKey(Sha256Hex("hello"))), "again");
}

TEST_F(LocalBlobTest, AMissingFolderOfBlobsIsMadeAgain) {
  std::filesystem::remove(
      std::filesystem::path(BlobPath("hello")).parent_path());
  auto writer = *storage_->OpenBlobWriter("urn:a");
  ASSERT_OK(writer->WriteAt(0, "hello"));
  EXPECT_OK(Commit(*writer, "hello"));
}

TEST_F(LocalBlobTest, ACorruptJournalRestartsThatFileOnly) {
  LeaveParts();
  WriteWholeFile(TemporaryFile(".journal"), "not\na\njournal\n");
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(), IsEmpty());
  ASSERT_OK(writer->WriteAt(0, "hello"));
  EXPECT_OK(Commit(*writer, "hello"));
}

TEST_F(LocalBlobTest, AJournalThatVouchesForMissingBytesIsNotBelieved) {
  LeaveParts();
  std::filesystem::resize_file(TemporaryFile(".part"), 2);
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(), IsEmpty());
}

TEST_F(LocalBlobTest, AJournalThatOutlivedItsFileVouchesForNothing) {
  LeaveParts();
  std::filesystem::remove(TemporaryFile(".part"));
  {
    // Written, not recorded, and killed: the file stays without a journal.
    auto writer = *storage_->OpenBlobWriter("urn:a");
    ASSERT_OK(writer->WriteAt(0, "XXXXX"));
    EXPECT_EQ(TemporaryFile(".journal"), "");
  }
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(), IsEmpty());
}

TEST_F(LocalBlobTest, WhatATornRecordLeftIsOverwritten) {
  LeaveParts();
  const std::string journal = TemporaryFile(".journal");
  WriteWholeFile(journal, ReadWholeFile(journal) + "0123456789abcdef rang");
  {
    auto writer = *storage_->OpenBlobWriter("urn:a");
    EXPECT_THAT(writer->recovered(), ElementsAre(ByteRange{0, 3}));
    ASSERT_OK(writer->SetIdentity({"urn:a", 5, "e1"}));
    ASSERT_OK(writer->WriteAt(4, "o"));
    ASSERT_OK(writer->RecordRange({4, 5}));
  }
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(),
              ElementsAre(ByteRange{0, 3}, ByteRange{4, 5}));
}

// Runs `body` in a process of its own that dies of SIGKILL, as a worker may.
template <typename Body>
void RunKilled(Body body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST_F(LocalBlobTest, AKilledProcessLeavesItsPartsAndNoLock) {
  storage_.reset();
  RunKilled([&] {
    storage_ = Open(false);
    LeaveParts();
    auto writer = *storage_->OpenBlobWriter("urn:a");
    if (writer->recovered().size() != 1) _exit(1);
    (void)writer->WriteAt(3, "XX");
  });
  storage_ = Open(false);
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(), ElementsAre(ByteRange{0, 3}));
}

TEST_F(LocalBlobTest, AnotherProcessKeepsOffWhileItIsHeld) {
  storage_.reset();
  int held[2];
  int release[2];
  ASSERT_EQ(pipe(held), 0);
  ASSERT_EQ(pipe(release), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    storage_ = Open(false);
    LeaveParts();
    auto writer = *storage_->OpenBlobWriter("urn:a");
    if (write(held[1], "x", 1) != 1 || read(release[0], &byte, 1) != 1) {
      _exit(1);
    }
    _exit(0);
  }
  ASSERT_EQ(read(held[0], &byte, 1), 1);
  storage_ = Open(false);
  {
    auto beside = *storage_->OpenBlobWriter("urn:a");
    EXPECT_THAT(beside->recovered(), IsEmpty());
    EXPECT_OK(storage_->SweepTemporary(absl::ZeroDuration()));
  }
  ASSERT_EQ(write(release[1], "x", 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  auto writer = *storage_->OpenBlobWriter("urn:a");
  EXPECT_THAT(writer->recovered(), ElementsAre(ByteRange{0, 3}));
  for (int fd : {held[0], held[1], release[0], release[1]}) close(fd);
}

// The process that the next test starts and that dies at a failpoint, which
// is read once, at a process's first.
TEST(LocalBlobChildTest, DISABLED_DiesWhileItCommits) {
  OpenOptions options;
  auto storage = *LocalStorage::Open(getenv("BIMBACKUP_TEST_FOLDER"), options);
  auto writer = *storage->OpenBlobWriter("urn:a");
  ASSERT_OK(writer->SetIdentity({"urn:a", 5, "e1"}));
  ASSERT_OK(writer->WriteAt(0, "hello"));
  ASSERT_OK(writer->RecordRange({0, 5}));
  std::promise<absl::Status> done;
  writer->Commit(Sha256Hex("hello"), 5,
                 [&](const absl::Status& status) { done.set_value(status); });
  ASSERT_OK(done.get_future().get());
}

TEST_F(LocalBlobTest, ACrashAroundACommitLosesNothing) {
  storage_.reset();
  for (const char* point : {"storage.commit.durable", "storage.commit.moved"}) {
    SCOPED_TRACE(point);
    RunKilled([&] {
      setenv("BIMBACKUP_FAILPOINT", point, 1);
      setenv("BIMBACKUP_TEST_FOLDER", folder_.path().c_str(), 1);
      execl("/proc/self/exe", "child", "--gtest_also_run_disabled_tests",
            "--gtest_brief=1", "--gtest_filter=LocalBlobChildTest.*", nullptr);
      _exit(1);
    });
    storage_ = Open(false);
    const bool moved = storage_->GetBlobSize(Sha256Hex("hello")).ok();
    EXPECT_EQ(moved, absl::string_view(point) == "storage.commit.moved");
    auto writer = *storage_->OpenBlobWriter("urn:a");
    EXPECT_EQ(writer->recovered().empty(), moved);
    ASSERT_OK(writer->WriteAt(0, "hello"));
    ASSERT_OK(Commit(*writer, "hello"));
    EXPECT_EQ(ReadWholeFile(BlobPath("hello")), "hello");
    writer.reset();
    storage_.reset();
    std::filesystem::remove(BlobPath("hello"));
  }
}

TEST_F(LocalBlobTest, AFileTooLargeForTheFileSystemIsNoFullDisk) {
  rlimit former;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &former), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {4096, former.rlim_max};
  auto writer = *storage_->OpenBlobWriter("urn:a");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status written = writer->WriteAt(0, std::string(8192, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &former), 0);
  EXPECT_THAT(written, StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SyncReachesDiskTest, OnLocalFileSystemsOnly) {
  for (const int64_t local : {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC,
                              OVERLAYFS_SUPER_MAGIC}) {
    EXPECT_TRUE(SyncReachesDisk(local)) << local;
  }
  EXPECT_TRUE(SyncReachesDisk(BTRFS_SUPER_MAGIC));
  for (const int64_t elsewhere :
       {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, FUSE_SUPER_MAGIC, 0}) {
    EXPECT_FALSE(SyncReachesDisk(elsewhere)) << elsewhere;
  }
  EXPECT_FALSE(SyncReachesDisk(CIFS_SUPER_MAGIC));
  EXPECT_EQ(FileSystemType(-1), 0);
}

TEST_F(LocalBlobTest, CommitsManyWhereEachFileIsWaitedForByItself) {
  constexpr int kBlobs = 20;
  StorageFolders folders;
  folders.path = folder_.path();
  ASSERT_OK_AND_ASSIGN(folders.root, OpenRoot(folders.path));
  ASSERT_OK_AND_ASSIGN(folders.temporary,
                       OpenFolderAt(folders.root.get(), "tmp"));
  std::vector<absl::Status> ends;
  {
    CommitQueue queue(folders, /*sync_together=*/false);
    for (int i = 0; i < kBlobs; ++i) {
      const std::string bytes = absl::StrCat("blob ", i);
      ASSERT_OK_AND_ASSIGN(auto writer,
                           LocalBlobWriter::Open(folders, queue, bytes));
      ASSERT_OK(writer->WriteAt(0, bytes));
      writer->Commit(Sha256Hex(bytes), bytes.size(),
                     [&](const absl::Status& end) { ends.push_back(end); });
    }
  }
  EXPECT_THAT(ends, SizeIs(kBlobs));
  EXPECT_THAT(ends, Each(IsOk()));
  for (int i = 0; i < kBlobs; ++i) {
    EXPECT_OK(storage_->GetBlobSize(Sha256Hex(absl::StrCat("blob ", i))));
  }
}

TEST(ErrnoStatusTest, ErrorsGetTheSeamsCodes) {
  const auto code = [](int error) {
    return ErrnoStatus(error, "write to", "x").code();
  };
  EXPECT_EQ(code(ENOSPC), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EDQUOT), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EROFS), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(EACCES), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(ENOENT), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(EIO), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code(ESTALE), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write to", "x").message(),
            "cannot write to x: No space left on device");
}

TEST_F(LocalBlobTest, AWriterGoesOnAfterSixteenOthers) {
  std::vector<std::unique_ptr<BlobWriter>> writers;
  for (int i = 0; i < 16; ++i) {
    writers.push_back(*storage_->OpenBlobWriter("urn:a"));
  }
  EXPECT_THAT(storage_->OpenBlobWriter("urn:a"),
              StatusIs(absl::StatusCode::kUnavailable));
  writers.pop_back();
  EXPECT_OK(storage_->OpenBlobWriter("urn:a"));
}

TEST_F(LocalBlobTest, StrayFilesOfEveryKindAreSwept) {
  LeaveParts();
  WriteWholeFile(folder_ / "tmp/orphan.part.journal", "x");
  WriteWholeFile(folder_ / "tmp/object-1", "x");
  WriteWholeFile(folder_ / "tmp/view-1", "x");
  ASSERT_OK(storage_->SweepTemporary(absl::Hours(1)));
  EXPECT_EQ(CountTemporary(), 5);
  ASSERT_OK(storage_->SweepTemporary(absl::ZeroDuration()));
  EXPECT_EQ(CountTemporary(), 0);
}

}  // namespace
}  // namespace bimbackup::storage::local
