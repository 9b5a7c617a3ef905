// Files past 4 GiB: offsets, counts, and how little memory they take.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/reader/blocked_io_uring.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr int64_t kFileBytes = (int64_t{4} << 30) + 1000;
constexpr int64_t kPeakKibibytes = 32 * 1024;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

int64_t PeakKibibytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmHWM:", 0) != 0) continue;
    return std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  return -1;
}

// Holes but for short lines at the front, at intervals, and past 4 GiB.
class LargeFileTest : public testing::TestWithParam<Strategy> {
 protected:
  static void SetUpTestSuite() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "largeXXXXXX").string();
    const int fd = mkstemp(pattern.data());
    unlink(pattern.c_str());
    ASSERT_EQ(ftruncate(fd, kFileBytes), 0);
    // Lines of 1 MiB, so that none has to be put together in full.
    for (int64_t at = (1 << 20) - 1; at < kFileBytes; at += 1 << 20) {
      ASSERT_EQ(pwrite(fd, "\n", 1, at), 1);
    }
    ASSERT_EQ(pwrite(fd, "last\nend", 8, kFileBytes - 8), 8);
    auto file = InputFile::Adopt(fd, "large");
    ASSERT_OK(file);
    file_ = *std::move(file);
  }
  void SetUp() override {
    if (GetParam() == Strategy::kIoUring && !IoUringWorks()) {
      GTEST_SKIP() << "io_uring is blocked here";
    }
  }

  static void TearDownTestSuite() { file_.reset(); }

  static std::unique_ptr<LineReader> Open(int64_t start_offset) {
    ReaderOptions options;
    options.strategy = GetParam();
    options.start_offset = start_offset;
    auto reader = OpenLineReader(file_, options);
    EXPECT_OK(reader);
    return *std::move(reader);
  }

  static std::shared_ptr<const InputFile> file_;
};

std::shared_ptr<const InputFile> LargeFileTest::file_;

TEST_P(LargeFileTest, CountsAllOfItInLittleMemory) {
  auto reader = Open(0);
  ASSERT_OK_AND_ASSIGN(const LineCounts counts, reader->CountRest());
  EXPECT_EQ(counts.lines, 4096 + 2);
  EXPECT_EQ(counts.bytes, kFileBytes);
  EXPECT_EQ(counts.longest_line, (1 << 20) - 1);
  EXPECT_TRUE(counts.unterminated);
  if (!kSanitized) {
    EXPECT_LT(PeakKibibytes(), kPeakKibibytes);
  }
}

TEST_P(LargeFileTest, OffsetsPastFourGibibytesAreExact) {
  auto reader = Open(kFileBytes - 8 - (1 << 20));
  LineBatch batch;
  std::string last;
  int64_t offset = 0;
  for (absl::StatusOr<bool> more; (more = reader->Next(batch)).ok() && *more;) {
    offset = batch.offset() + batch.raw_offset(batch.size() - 1);
    const absl::string_view line = batch.line(batch.size() - 1);
    last.assign(line.data(), line.size());
  }
  EXPECT_EQ(last, "end");
  EXPECT_EQ(offset, kFileBytes - 3);
  EXPECT_EQ(reader->offset(), kFileBytes);
}

INSTANTIATE_TEST_SUITE_P(Strategies, LargeFileTest,
                         testing::Values(Strategy::kBlocking, Strategy::kAsync,
                                         Strategy::kIoUring, Strategy::kMmap,
                                         Strategy::kParallel),
                         [](const auto& info) {
                           return std::string(StrategyName(info.param));
                         });

}  // namespace
}  // namespace bimbackup::file_scan::reader
