#include "services/file_scan/reader/line_batcher.h"

#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/reader/reference_lines.h"

namespace bimbackup::file_scan::reader {
namespace {

using testing::ElementsAre;

LineBatcher Batcher(absl::string_view content, const BatcherOptions& options,
                    ReaderOptions reader_options = ReaderOptions()) {
  auto reader = OpenLineReader(FileHolding(content), reader_options);
  EXPECT_OK(reader);
  return LineBatcher(*std::move(reader), options);
}

absl::string_view Bytes(const CollectedLines& lines) {
  return absl::string_view(lines.bytes.get(), lines.size);
}

TEST(LineBatcherTest, FillsBatchesWithWholeLines) {
  BatcherOptions options;
  options.batch_bytes = 6;
  LineBatcher batcher = Batcher("a\nbb\nc\r\nlonger than six\nd", options);
  const char* expected[] = {"a\nbb\n", "c\r\n", "longer than six\n", "d"};
  int64_t offset = 0;
  for (const char* bytes : expected) {
    ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
    EXPECT_EQ(Bytes(lines), bytes);
    EXPECT_EQ(lines.offset, offset);
    offset += lines.size;
    EXPECT_EQ(lines.next_offset, offset);
    EXPECT_EQ(lines.end, *bytes == 'd');
    EXPECT_EQ(lines.unterminated, *bytes == 'd');
  }
}

TEST(LineBatcherTest, LengthsIncludeLineEnds) {
  LineBatcher batcher = Batcher("a\nbb\r\n\nccc", BatcherOptions());
  ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
  EXPECT_THAT(lines.lengths, ElementsAre(2, 4, 1, 3));
  EXPECT_TRUE(lines.end);
}

TEST(LineBatcherTest, EmptyFileIsOneEmptyLastBatch) {
  LineBatcher batcher = Batcher("", BatcherOptions());
  ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
  EXPECT_TRUE(lines.end);
  EXPECT_EQ(lines.size, 0);
  EXPECT_EQ(lines.next_offset, 0);
}

TEST(LineBatcherTest, ChoosesLinesThatContain) {
  BatcherOptions options;
  options.contains = "ab";
  LineBatcher batcher = Batcher("xab\nabab\nno\na\nb\n\nab\r\nab", options);
  ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
  EXPECT_EQ(Bytes(lines), "xab\nabab\nab\r\nab");
  EXPECT_THAT(lines.offsets, ElementsAre(0, 4, 17, 21));
  EXPECT_THAT(lines.lengths, ElementsAre(4, 5, 4, 2));
  EXPECT_TRUE(lines.end);
  EXPECT_EQ(lines.next_offset, 23);
}

TEST(LineBatcherTest, LineEndIsNotPartOfWhatIsContained) {
  BatcherOptions options;
  options.contains = "\r";
  LineBatcher batcher = Batcher("a\r\nb\rc\r\nd\r\re\r\n\r\r\n", options);
  ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
  EXPECT_EQ(Bytes(lines), "b\rc\r\nd\r\re\r\n\r\r\n");
}

TEST(LineBatcherTest, StopsAfterMaxLines) {
  BatcherOptions options;
  options.max_lines = 2;
  LineBatcher batcher = Batcher("a\nb\nc\n", options);
  ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
  EXPECT_EQ(Bytes(lines), "a\nb\n");
  EXPECT_TRUE(lines.end);
  EXPECT_EQ(lines.next_offset, 4);
}

TEST(LineBatcherTest, AnyBatchSizeAndResumptionGivesTheSameBytes) {
  std::mt19937_64 random(3);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&text, std::string(random() % 60, 'a' + i % 3),
                    i % 5 == 0 ? "\r\n" : "\n");
  }
  for (const int64_t batch_bytes : {1, 7, 100, 5000, 1 << 20}) {
    for (const absl::string_view contains : {"", "bb"}) {
      BatcherOptions options;
      options.batch_bytes = batch_bytes;
      options.contains = std::string(contains.data(), contains.size());
      std::string expected;
      for (const std::string& line : ReferenceLines(text, {}).lines) {
        if (absl::StrContains(line, contains)) expected += line;
      }
      std::string got;
      ReaderOptions reader_options;
      bool end = false;
      while (!end) {
        // Resumes after some batches, as a client whose stream broke.
        LineBatcher batcher = Batcher(text, options, reader_options);
        for (int i = 0; i < 300 && !end; ++i) {
          ASSERT_OK_AND_ASSIGN(CollectedLines lines, batcher.Next());
          for (const char byte : Bytes(lines)) {
            if (byte != '\r' && byte != '\n') got.push_back(byte);
          }
          end = lines.end;
          reader_options.start_offset = lines.next_offset;
        }
      }
      EXPECT_EQ(got, expected) << batch_bytes;
    }
  }
}

}  // namespace
}  // namespace bimbackup::file_scan::reader
