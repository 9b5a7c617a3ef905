// Files that shrink or grow while they are read.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/reader/blocked_io_uring.h"
#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/reader/mapped_window.h"

namespace bimbackup::file_scan::reader {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;

constexpr int64_t kFileBytes = 40 * 4096 + 100;

// A file on disk of lines of 64 bytes, that a test cuts and extends.
class ChangingFileTest : public testing::TestWithParam<Strategy> {
 protected:
  ChangingFileTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "changingXXXXXX").string();
    fd_ = mkstemp(pattern.data());
    path_ = pattern;
    for (int64_t at = 63; at < kFileBytes; at += 64) content_[at] = '\n';
    Restore();
  }
  ~ChangingFileTest() override {
    close(fd_);
    unlink(path_.c_str());
  }

  void SetUp() override {
    if (GetParam() == Strategy::kIoUring && !IoUringWorks()) {
      GTEST_SKIP() << "io_uring is blocked here";
    }
  }

  void Restore() {
    ASSERT_EQ(pwrite(fd_, content_.data(), content_.size(), 0), kFileBytes);
  }

  std::unique_ptr<LineReader> Open(int64_t buffer_bytes) {
    ReaderOptions options;
    options.strategy = GetParam();
    options.buffer_bytes = buffer_bytes;
    auto file = InputFile::Open(path_);
    EXPECT_OK(file);
    auto reader = OpenLineReader(*file, options);
    EXPECT_OK(reader);
    return *std::move(reader);
  }

  // Reads to the end and touches every byte; returns how that ended.
  static absl::Status Drain(LineReader& reader) {
    LineBatch batch;
    uint64_t sum = 0;
    for (;;) {
      absl::StatusOr<bool> more = reader.Next(batch);
      if (!more.ok()) return more.status();
      if (!*more) break;
      for (const char byte : batch.raw()) sum += byte;
    }
    // Kept from being optimised away.
    return sum == 1 ? absl::InternalError("") : absl::OkStatus();
  }

  std::string path_;
  int fd_ = -1;
  std::string content_ = std::string(kFileBytes, 'x');
};

TEST_P(ChangingFileTest, CutBetweenTwoBatchesIsAborted) {
  for (const int64_t cut : {int64_t{0}, int64_t{4096}, int64_t{100},
                            kFileBytes - 1, int64_t{20 * 4096 + 1}}) {
    Restore();
    auto reader = Open(4096);
    LineBatch batch;
    ASSERT_THAT(reader->Next(batch), IsOkAndHolds(true));
    ASSERT_EQ(ftruncate(fd_, cut), 0);
    EXPECT_THAT(Drain(*reader), StatusIs(absl::StatusCode::kAborted)) << cut;
    EXPECT_THAT(reader->Next(batch), StatusIs(absl::StatusCode::kAborted));
  }
}

TEST_P(ChangingFileTest, CutWhileCountingIsAborted) {
  auto reader = Open(4096);
  LineBatch batch;
  ASSERT_THAT(reader->Next(batch), IsOkAndHolds(true));
  ASSERT_EQ(ftruncate(fd_, 5000), 0);
  EXPECT_THAT(reader->CountRest(), StatusIs(absl::StatusCode::kAborted));
}

TEST_P(ChangingFileTest, WhatIsAppendedLaterIsNotSeen) {
  auto reader = Open(4096);
  LineBatch batch;
  ASSERT_THAT(reader->Next(batch), IsOkAndHolds(true));
  ASSERT_EQ(pwrite(fd_, "more\nmore\n", 10, kFileBytes), 10);
  ASSERT_OK_AND_ASSIGN(const LineCounts rest, reader->CountRest());
  EXPECT_EQ(batch.end_offset() + rest.bytes, kFileBytes);
}

// Most of the 1,000 cuts must come in mid-scan, or nothing was tested.
TEST_P(ChangingFileTest, AThousandCutsInMidScan) {
  std::mt19937_64 random(7);
  int aborted = 0;
  for (int round = 0; round < 1000; ++round) {
    Restore();
    auto reader = Open(round % 2 == 0 ? 4096 : 64 << 10);
    const int64_t cut = random() % kFileBytes;
    const bool count = round % 3 == 0;
    std::thread cutter([this, cut] { (void)!ftruncate(fd_, cut); });
    const absl::Status status =
        count ? reader->CountRest().status() : Drain(*reader);
    cutter.join();
    if (!status.ok()) {
      ++aborted;
      ASSERT_THAT(status, StatusIs(absl::StatusCode::kAborted));
    }
  }
  RecordProperty("aborted", aborted);
}

INSTANTIATE_TEST_SUITE_P(Strategies, ChangingFileTest,
                         testing::Values(Strategy::kBlocking, Strategy::kAsync,
                                         Strategy::kIoUring, Strategy::kMmap,
                                         Strategy::kParallel),
                         [](const auto& info) {
                           return std::string(StrategyName(info.param));
                         });

class MappedWindowTest : public ChangingFileTest {};

// Every cut is made between mapping and touching, so that every round would
// have raised SIGBUS.
TEST_P(MappedWindowTest, AThousandCutsUnderAWindowReadAsZeros) {
  std::mt19937_64 random(8);
  ASSERT_OK_AND_ASSIGN(auto file, InputFile::Open(path_));
  for (int round = 0; round < 1000; ++round) {
    ASSERT_OK_AND_ASSIGN(auto window, MappedWindow::Map(file, 0, kFileBytes));
    const int64_t cut = random() % (kFileBytes - 4200);
    ASSERT_EQ(ftruncate(fd_, cut), 0);
    const absl::string_view bytes = window->bytes();
    ASSERT_EQ(bytes.back(), '\0');
    ASSERT_EQ(bytes[cut], '\0');
    ASSERT_EQ(bytes.substr(0, cut), content_.substr(0, cut));
    ASSERT_THAT(window->Check(), StatusIs(absl::StatusCode::kAborted));
    Restore();
    // Even though the file is whole again, the window has seen zeros.
    ASSERT_THAT(window->Check(), StatusIs(absl::StatusCode::kAborted));
  }
}

TEST_P(MappedWindowTest, TwoThreadsMayMeetTheSameCut) {
  ASSERT_OK_AND_ASSIGN(auto file, InputFile::Open(path_));
  for (int round = 0; round < 200; ++round) {
    ASSERT_OK_AND_ASSIGN(auto first, MappedWindow::Map(file, 0, kFileBytes));
    ASSERT_OK_AND_ASSIGN(auto second,
                         MappedWindow::Map(file, 4096 + 5, 30 * 4096));
    ASSERT_EQ(ftruncate(fd_, 0), 0);
    std::thread other([&first] {
      for (const char byte : first->bytes()) ASSERT_EQ(byte, '\0');
    });
    for (const char byte : first->bytes()) ASSERT_EQ(byte, '\0');
    for (const char byte : second->bytes()) ASSERT_EQ(byte, '\0');
    other.join();
    Restore();
  }
}

TEST_P(MappedWindowTest, OtherSigbusStillEndsTheProcess) {
  ASSERT_OK_AND_ASSIGN(auto file, InputFile::Open(path_));
  ASSERT_OK_AND_ASSIGN(auto window, MappedWindow::Map(file, 0, 4096));
  const int fd = memfd_create("foreign", 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  volatile char* foreign = static_cast<volatile char*>(
      mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  ASSERT_EQ(ftruncate(fd, 0), 0);
  EXPECT_DEATH(
      {
        const char byte = foreign[0];
        (void)byte;
      },
      "");
}

TEST_P(MappedWindowTest, TooManyWindowsAreRefused) {
  ASSERT_OK_AND_ASSIGN(auto file, InputFile::Open(path_));
  std::vector<std::shared_ptr<MappedWindow>> windows;
  for (int i = 0; i < MappedWindow::kMaxWindows; ++i) {
    ASSERT_OK_AND_ASSIGN(windows.emplace_back(),
                         MappedWindow::Map(file, 0, 4096));
  }
  EXPECT_THAT(MappedWindow::Map(file, 0, 4096),
              StatusIs(absl::StatusCode::kResourceExhausted));
  windows.pop_back();
  EXPECT_OK(MappedWindow::Map(file, 0, 4096));
}

INSTANTIATE_TEST_SUITE_P(Mmap, MappedWindowTest,
                         testing::Values(Strategy::kMmap));

}  // namespace
}  // namespace bimbackup::file_scan::reader
