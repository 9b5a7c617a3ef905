#include "services/file_scan/reader/line_reader.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/reader/blocked_io_uring.h"
#include "services/file_scan/reader/reference_lines.h"

namespace bimbackup::file_scan::reader {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;

TEST(LineReaderTest, BlockedIoUringIsUnavailableAndNothingElseSuffers) {
  std::thread([] {
    ASSERT_TRUE(BlockIoUring());
    auto file = FileHolding("a\nb\n");
    ReaderOptions options;
    options.strategy = Strategy::kIoUring;
    EXPECT_THAT(OpenLineReader(file, options),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("io_uring is not available here")));
    options.strategy = Strategy::kBlocking;
    ASSERT_OK_AND_ASSIGN(auto reader, OpenLineReader(file, options));
    ASSERT_OK_AND_ASSIGN(LineCounts counts, reader->CountRest());
    EXPECT_EQ(counts.lines, 2);
  }).join();
}

TEST(LineReaderTest, OptionsOutOfRangeAreRefused) {
  auto file = FileHolding("a\n");
  auto expect_refused = [&file](auto change) {
    ReaderOptions options;
    change(options);
    EXPECT_THAT(OpenLineReader(file, options),
                StatusIs(absl::StatusCode::kInvalidArgument));
  };
  expect_refused([](ReaderOptions& o) { o.buffer_bytes = 63; });
  expect_refused([](ReaderOptions& o) { o.buffer_bytes = -1; });
  expect_refused([](ReaderOptions& o) { o.buffer_bytes = (64 << 20) + 1; });
  expect_refused([](ReaderOptions& o) { o.threads = 0; });
  expect_refused([](ReaderOptions& o) { o.threads = 17; });
  expect_refused([](ReaderOptions& o) { o.max_line_bytes = 0; });
  expect_refused([](ReaderOptions& o) { o.start_offset = -1; });
}

absl::Status ReadStatus(absl::string_view bytes, absl::string_view name) {
  auto reader = OpenLineReader(FileHolding(bytes, name), ReaderOptions());
  return reader.ok() ? ReadAll(**reader).status : reader.status();
}

TEST(LineReaderTest, DamagedCompressedFilesAreDataLoss) {
  const std::string good = Compressed("some lines\nof text\n", 100);
  EXPECT_OK(ReadStatus(good, "a.zst"));
  EXPECT_OK(ReadStatus("", "a.zst"));
  EXPECT_THAT(ReadStatus("not compressed\n", "a.zst"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("damaged")));
  for (size_t size = 1; size < good.size(); ++size) {
    EXPECT_THAT(ReadStatus(absl::string_view(good).substr(0, size), "a.zst"),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
  }
  EXPECT_THAT(ReadStatus(absl::StrCat(good, "rest"), "a.zst"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(LineReaderTest, CompressionGoesByNameUnlessTold) {
  const std::string packed = Compressed("x\ny\n", 100);
  ReaderOptions options;
  options.decompression = Decompression::kNone;
  ASSERT_OK_AND_ASSIGN(auto raw,
                       OpenLineReader(FileHolding(packed, "a.zst"), options));
  EXPECT_EQ(ReadAll(*raw).raw, packed);
  options.decompression = Decompression::kZstd;
  ASSERT_OK_AND_ASSIGN(auto unpacked,
                       OpenLineReader(FileHolding(packed, "a"), options));
  EXPECT_EQ(ReadAll(*unpacked).raw, "x\ny\n");
}

TEST(LineReaderTest, ForEachLineStopsAtTheFirstFailure) {
  ASSERT_OK_AND_ASSIGN(
      auto reader, OpenLineReader(FileHolding("a\nb\nc\n"), ReaderOptions()));
  std::string seen;
  const absl::Status status =
      ForEachLine(*reader, [&seen](absl::string_view line) {
        absl::StrAppend(&seen, line);
        return line == "b" ? absl::DataLossError("b") : absl::OkStatus();
      });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(seen, "ab");
}

TEST(LineReaderTest, StatsCountRefillsAndOtherThreadsTime) {
  const std::string text(1 << 20, '\n');
  for (const Strategy strategy :
       {Strategy::kBlocking, Strategy::kAsync, Strategy::kIoUring,
        Strategy::kMmap, Strategy::kParallel}) {
    if (strategy == Strategy::kIoUring && !IoUringWorks()) continue;
    ReaderOptions options;
    options.strategy = strategy;
    options.buffer_bytes = 64 << 10;
    ASSERT_OK_AND_ASSIGN(auto reader,
                         OpenLineReader(FileHolding(text), options));
    ASSERT_OK(reader->CountRest());
    EXPECT_EQ(reader->stats().reads, strategy == Strategy::kParallel ? 1 : 16)
        << StrategyName(strategy);
    const bool helped =
        strategy == Strategy::kAsync || strategy == Strategy::kParallel;
    EXPECT_EQ(reader->stats().helper_cpu > absl::ZeroDuration(), helped)
        << StrategyName(strategy);
  }
}

}  // namespace
}  // namespace bimbackup::file_scan::reader
