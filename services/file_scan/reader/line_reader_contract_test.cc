// What every strategy must do, against a reference that reads byte by byte.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/reader/blocked_io_uring.h"
#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/reader/reference_lines.h"

namespace bimbackup::file_scan::reader {
namespace {

using absl_testing::IsOk;
using absl_testing::StatusIs;
using testing::HasSubstr;

// How a strategy is tested: its smallest block, and whether the file is
// compressed.
struct Case {
  Strategy strategy;
  int64_t block_bytes;
  bool compressed = false;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << StrategyName(tested.strategy) << (tested.compressed ? "Zst" : "");
}

std::string NameOf(const testing::TestParamInfo<Case>& info) {
  const absl::string_view name = StrategyName(info.param.strategy);
  return absl::StrCat(name, info.param.compressed ? "_zst" : "");
}

class LineReaderContractTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (GetParam().strategy == Strategy::kIoUring && !IoUringWorks()) {
      GTEST_SKIP() << "io_uring is blocked here";
    }
  }

  ReaderOptions Options() const {
    ReaderOptions options;
    options.strategy = GetParam().strategy;
    options.buffer_bytes = GetParam().block_bytes;
    options.threads = 3;
    return options;
  }

  std::shared_ptr<const InputFile> File(absl::string_view content) const {
    if (!GetParam().compressed) return FileHolding(content);
    const size_t frame_bytes = std::max<size_t>(100, content.size() / 20);
    return FileHolding(Compressed(content, frame_bytes), "file.zst");
  }

  std::unique_ptr<LineReader> Open(absl::string_view content,
                                   const ReaderOptions& options) const {
    auto reader = OpenLineReader(File(content), options);
    EXPECT_THAT(reader, IsOk());
    return reader.ok() ? *std::move(reader) : nullptr;
  }

  // Compares lines, and counts, whole and from the middle, with the
  // reference's.
  void ExpectSame(absl::string_view content, const ReaderOptions& options) {
    const LinesRead expected = ReferenceLines(content, options);
    auto reader = Open(content, options);
    ASSERT_EQ(Difference(ReadAll(*reader), expected), "")
        << content.size() << " bytes";
    if (expected.status.ok()) {
      LineBatch batch;
      ASSERT_THAT(reader->Next(batch), absl_testing::IsOkAndHolds(false));
    }
    for (const int batches : {0, 1, 3}) {
      auto counter = Open(content, options);
      const LinesRead before = ReadAll(*counter, batches);
      if (!before.status.ok()) continue;
      ExpectCounts(counter->CountRest(), before, expected, options);
    }
  }

  void ExpectCounts(const absl::StatusOr<LineCounts>& rest,
                    const LinesRead& before, const LinesRead& expected,
                    const ReaderOptions& options) {
    ASSERT_EQ(rest.status(), expected.status);
    if (!rest.ok()) return;
    const LineCounts shown = before.Counts(options.start_offset);
    const LineCounts all = expected.Counts(options.start_offset);
    EXPECT_EQ(shown.lines + rest->lines, all.lines);
    if (all.lines > 0) {
      EXPECT_EQ(shown.bytes + rest->bytes, all.bytes);
    }
    EXPECT_EQ(std::max(shown.longest_line, rest->longest_line),
              all.longest_line);
    EXPECT_EQ(shown.unterminated || rest->unterminated, all.unterminated);
  }
};

// Bytes from a small alphabet in which line ends, and what resembles them,
// are frequent; `rarity` makes lines longer.
std::string RandomText(std::mt19937_64& random, size_t size, int rarity) {
  static constexpr char kAlphabet[] = {'\n', '\r', '\0', 'a', '\xef', '\x8a'};
  std::string text(size, 'x');
  for (char& byte : text) {
    const uint64_t value = random() % (sizeof(kAlphabet) * rarity);
    if (value < sizeof(kAlphabet)) byte = kAlphabet[value];
    if (value == 0 && &byte != text.data() && random() % 2 == 0) {
      (&byte)[-1] = '\r';
    }
  }
  return text;
}

TEST_P(LineReaderContractTest, EverySizeUpToThreeBlocks) {
  std::mt19937_64 random(1);
  const int64_t block = GetParam().block_bytes;
  const int64_t step = block > 64 ? block / 8 : 1;
  for (int64_t size = 0; size <= 3 * block; size += step) {
    for (const int rarity : {1, 4, 30}) {
      for (const int64_t around : {size - 1, size, size + 1}) {
        if (around < 0 || (step == 1 && around != size)) continue;
        ExpectSame(RandomText(random, around, rarity), Options());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(LineReaderContractTest, LineEndsAtEveryBlockBoundary) {
  const int64_t block = GetParam().block_bytes;
  for (const absl::string_view end : {"\n", "\r\n", "\r\r\n", "\n\n", "\r"}) {
    for (const int64_t boundary : {block, 2 * block}) {
      for (int64_t at = boundary - 3; at <= boundary + 1; ++at) {
        std::string text(3 * block, 'x');
        text.replace(at, end.size(), end.data(), end.size());
        ExpectSame(text, Options());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(LineReaderContractTest, ByteOrderMarkIsKeptOrDropped) {
  for (const absl::string_view text :
       {"\xef\xbb\xbf", "\xef\xbb\xbf\n", "\xef\xbb\xbfx\n", "\xef\xbb", "x",
        "\xef\xbb\xbf\xef\xbb\xbf\n"}) {
    for (const bool drop : {false, true}) {
      ReaderOptions options = Options();
      options.drop_byte_order_mark = drop;
      ExpectSame(text, options);
    }
  }
  ReaderOptions options = Options();
  options.drop_byte_order_mark = true;
  ExpectSame(absl::StrCat("\xef\xbb\xbf", std::string(500, 'x')), options);
}

TEST_P(LineReaderContractTest, LimitNamesTheLineThatExceedsIt) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 150; ++round) {
    ReaderOptions options = Options();
    options.max_line_bytes = 1 + random() % 200;
    const int rarity = 1 + random() % 30;
    ExpectSame(RandomText(random, random() % 700, rarity), options);
    if (HasFatalFailure()) return;
  }
}

TEST_P(LineReaderContractTest, LimitIsExactWhateverTheLineEnd) {
  for (const absl::string_view end : {"\n", "\r\n", "", "\r"}) {
    for (int64_t limit = 126; limit <= 130; ++limit) {
      ReaderOptions options = Options();
      options.max_line_bytes = limit;
      ExpectSame(absl::StrCat("a\n", std::string(128, 'x'), end), options);
      ExpectSame(absl::StrCat(std::string(128, 'x'), end), options);
    }
  }
}

TEST_P(LineReaderContractTest, StartsAtAnyOffset) {
  std::mt19937_64 random(3);
  const std::string text =
      RandomText(random, 2 * GetParam().block_bytes + 50, 12);
  const size_t step = text.size() / 100 + 1;
  for (size_t offset = 0; offset <= text.size(); offset += step) {
    ReaderOptions options = Options();
    options.start_offset = offset;
    ExpectSame(text, options);
    if (HasFatalFailure()) return;
  }
}

TEST_P(LineReaderContractTest, StartBeyondTheEndIsOutOfRange) {
  ReaderOptions options = Options();
  options.start_offset = 3;
  ExpectSame("a\n\n", options);
  options.start_offset = 4;
  auto reader = OpenLineReader(File("a\n\n"), options);
  absl::Status status = reader.status();
  if (reader.ok()) {
    LineBatch batch;
    status = (*reader)->Next(batch).status();
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange,
                               HasSubstr("start offset")));
}

TEST_P(LineReaderContractTest, FixedLengthLinesOfManyLengths) {
  for (const int length : {0, 1, 7, 61, 62, 63, 64, 65, 127, 128, 400}) {
    for (const absl::string_view end : {"\n", "\r\n"}) {
      std::string text;
      while (text.size() < 5000) {
        absl::StrAppend(&text, std::string(length, 'y'), end);
      }
      ExpectSame(text, Options());
    }
  }
}

TEST_P(LineReaderContractTest, LinesLongerThanManyBlocks) {
  ReaderOptions options = Options();
  std::string text = absl::StrCat("short\n", std::string(300'000, 'z'), "\r\n",
                                  std::string(70'000, 'w'), "\nend");
  ExpectSame(text, options);
  options.buffer_bytes = 0;
  ExpectSame(text, options);
}

TEST_P(LineReaderContractTest, DefaultBufferReadsManyLines) {
  std::mt19937_64 random(4);
  ReaderOptions options = Options();
  options.buffer_bytes = 0;
  ExpectSame(RandomText(random, 3'000'000, 8), options);
}

TEST_P(LineReaderContractTest, SharedMemoryOutlivesTheBatch) {
  std::mt19937_64 random(5);
  const std::string text = RandomText(random, 20 * GetParam().block_bytes, 4);
  const LinesRead expected = ReferenceLines(text, Options());
  auto reader = Open(text, Options());
  std::vector<std::shared_ptr<const void>> shared;
  std::vector<std::pair<size_t, absl::string_view>> kept;
  LineBatch batch;
  size_t line = 0;
  for (absl::StatusOr<bool> more; (more = reader->Next(batch)).ok() && *more;) {
    std::shared_ptr<const void> memory = reader->Share();
    for (size_t i = 0; i < batch.size(); ++i, ++line) {
      if (memory != nullptr) kept.emplace_back(line, batch.line(i));
    }
    shared.push_back(std::move(memory));
  }
  EXPECT_EQ(line, expected.lines.size());
  reader.reset();
  for (const auto& [number, view] : kept) {
    ASSERT_EQ(view, absl::string_view(expected.lines[number]));
  }
}

TEST_P(LineReaderContractTest, EndsWhenToldToStop) {
  ReaderOptions options = Options();
  options.buffer_bytes = 0;
  options.keep_going = [](const LineCounts& so_far) {
    return so_far.bytes < (3 << 20);
  };
  std::string text(9 << 20, 'x');
  for (size_t at = 99; at < text.size(); at += 100) text[at] = '\n';
  auto reader = Open(text, options);
  LinesRead read = ReadAll(*reader);
  EXPECT_THAT(read.status, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_LT(read.raw.size(), 7 << 20);
  auto counter = Open(text, options);
  EXPECT_THAT(counter->CountRest(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(counter->CountRest(), StatusIs(absl::StatusCode::kCancelled));
}

INSTANTIATE_TEST_SUITE_P(Strategies, LineReaderContractTest,
                         testing::Values(Case{Strategy::kBlocking, 64},
                                         Case{Strategy::kAsync, 64},
                                         Case{Strategy::kIoUring, 64},
                                         Case{Strategy::kMmap, 4096},
                                         Case{Strategy::kParallel, 64},
                                         Case{Strategy::kBlocking, 64, true},
                                         Case{Strategy::kAsync, 64, true},
                                         Case{Strategy::kIoUring, 64, true},
                                         Case{Strategy::kMmap, 4096, true},
                                         Case{Strategy::kParallel, 64, true}),
                         NameOf);

}  // namespace
}  // namespace bimbackup::file_scan::reader
