#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "services/common/clock.h"
#include "services/common/status_matchers.h"
#include "services/file_scan/bench/corpus.h"
#include "services/file_scan/bench/kept_lines.h"
#include "services/file_scan/bench/measurement.h"
#include "services/file_scan/bench/statistics.h"
#include "services/file_scan/reader/blocked_io_uring.h"

namespace bimbackup::file_scan::bench {
namespace {

using absl_testing::StatusIs;
using reader::LineBatch;
using reader::Strategy;

std::string TempFolder() {
  return std::filesystem::temp_directory_path().string();
}

absl::StatusOr<std::shared_ptr<const reader::InputFile>> SmallCorpus(
    int64_t bytes, uint64_t seed = 1) {
  CorpusSpec spec;
  spec.bytes = bytes;
  spec.seed = seed;
  return MakeCorpus(TempFolder(), spec);
}

TEST(StatisticsTest, OfKnownSamples) {
  const Statistics result =
      StatisticsOf({absl::Seconds(1), absl::Seconds(2), absl::Seconds(3)});
  EXPECT_EQ(result.mean, absl::Seconds(2));
  EXPECT_EQ(result.min, absl::Seconds(1));
  EXPECT_EQ(result.max, absl::Seconds(3));
  EXPECT_EQ(*result.standard_deviation, absl::Seconds(1));
  // 31.599 / sqrt(3).
  EXPECT_NEAR(absl::ToDoubleSeconds(*result.error), 18.244, 0.001);
}

TEST(StatisticsTest, OneSampleHasNoSpread) {
  const Statistics result = StatisticsOf({absl::Seconds(4)});
  EXPECT_EQ(result.mean, absl::Seconds(4));
  EXPECT_FALSE(result.error.has_value());
  EXPECT_FALSE(result.standard_deviation.has_value());
}

std::string ContentOf(const reader::InputFile& file) {
  std::string content(file.size(), '\0');
  int64_t reads = 0;
  EXPECT_OK(file.ReadAt(0, content.data(), content.size(), reads));
  return content;
}

TEST(CorpusTest, SameSeedSameBytesOfTheSizeAsked) {
  ASSERT_OK_AND_ASSIGN(auto first, SmallCorpus(3'000'001));
  ASSERT_OK_AND_ASSIGN(auto same, SmallCorpus(3'000'001));
  ASSERT_OK_AND_ASSIGN(auto other, SmallCorpus(3'000'001, 2));
  const std::string content = ContentOf(*first);
  EXPECT_EQ(content.size(), 3'000'001);
  EXPECT_EQ(content.back(), '\n');
  EXPECT_TRUE(content == ContentOf(*same));
  EXPECT_FALSE(content == ContentOf(*other));
  const double lines = std::count(content.begin(), content.end(), '\n');
  EXPECT_NEAR(content.size() / lines, 80, 2);
}

TEST(CorpusTest, SpecOutOfRangeIsRefused) {
  EXPECT_THAT(SmallCorpus(0), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SmallCorpus(kMaxCorpusBytes + 1),
              StatusIs(absl::StatusCode::kInvalidArgument));
  CorpusSpec spec;
  spec.mean_line_bytes = 1;
  EXPECT_THAT(MakeCorpus(TempFolder(), spec),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MakeCorpus("/nothing/there", CorpusSpec()),
              StatusIs(absl::StatusCode::kNotFound));
}

// `count` lines "x…\n" of `length` bytes with their ends.
struct Lines {
  Lines(size_t count, size_t length) {
    for (size_t i = 0; i < count; ++i) {
      text->append(length - 1, 'a' + i % 26).push_back('\n');
      ends.push_back(text->size() - 1);
    }
  }
  LineBatch batch() const {
    return LineBatch(text->data(), 0, ends.data(), ends.size(), 0);
  }
  std::shared_ptr<std::string> text = std::make_shared<std::string>();
  std::vector<uint32_t> ends;
};

TEST(KeptLinesTest, ClearsAtTenThousandLines) {
  KeptLines kept;
  const Lines lines(25'000, 10);
  kept.AddCopies(lines.batch());
  EXPECT_EQ(kept.added(), 25'000);
  EXPECT_EQ(kept.cleared(), 2);
  EXPECT_EQ(kept.lines().size(), 5'000);
  EXPECT_EQ(kept.lines().back(), lines.batch().line(24'999));
}

TEST(KeptLinesTest, HoldsNoMoreBytesThanItsLimit) {
  KeptLines kept;
  const Lines lines(3, 1 << 20);
  for (int i = 0; i < 20; ++i) kept.AddCopies(lines.batch());
  EXPECT_EQ(kept.added(), 60);
  EXPECT_EQ(kept.cleared(), 7);
  EXPECT_LE(kept.lines().size(), 8);
}

TEST(KeptLinesTest, ViewsKeepTheirMemoryUntilCleared) {
  KeptLines kept;
  std::weak_ptr<std::string> memory;
  {
    const Lines lines(6'000, 10);
    memory = lines.text;
    kept.AddViews(lines.batch(), lines.text);
  }
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(kept.lines().front(), "aaaaaaaaa");
  const Lines more(6'000, 10);
  kept.AddViews(more.batch(), more.text);
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(kept.lines().size(), 2'000);
}

TEST(KeptLinesTest, ViewsOfMemoryThatIsUsedAgainAreCopied) {
  KeptLines kept;
  Lines lines(3, 5);
  kept.AddViews(lines.batch(), nullptr);
  lines.text->assign(lines.text->size(), '?');
  EXPECT_EQ(kept.lines().front(), "aaaa");
}

TEST(RunPlanTest, GivesEveryRowInOrder) {
  ASSERT_OK_AND_ASSIGN(auto file, SmallCorpus(300'000));
  Plan plan;
  plan.strategies = {Strategy::kBlocking, Strategy::kMmap};
  plan.buffer_bytes = {4096, 0};
  plan.works = {Work::kCount, Work::kView, Work::kKeep, Work::kKeepViews};
  plan.repetitions = 2;
  SystemClock clock;
  std::vector<Row> rows;
  ASSERT_OK(RunPlan(file, plan, clock, [&rows](const Row& row) {
    rows.push_back(row);
    return true;
  }));
  ASSERT_EQ(rows.size(), 16);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].number, i + 1);
    EXPECT_EQ(rows[i].rows, 16);
    EXPECT_EQ(rows[i].unavailable, "");
    EXPECT_EQ(rows[i].last.lines, rows[0].last.lines);
    EXPECT_EQ(rows[i].last.bytes, 300'000);
    EXPECT_GT(rows[i].statistics.mean, absl::ZeroDuration());
    EXPECT_GT(rows[i].mean_cpu, absl::ZeroDuration());
    EXPECT_GT(rows[i].ratio, 0);
  }
  EXPECT_EQ(rows[0].ratio, 1);
  EXPECT_EQ(rows[0].last.reads, 300'000 / 4096 + 1);
  EXPECT_EQ(rows[8].strategy, Strategy::kMmap);
  EXPECT_EQ(rows[12].buffer_bytes, 2 << 20);
}

TEST(RunPlanTest, MarksRowsOfBlockedIoUringAndGoesOn) {
  ASSERT_OK_AND_ASSIGN(auto file, SmallCorpus(5'000));
  Plan plan;
  plan.strategies = {Strategy::kIoUring, Strategy::kMmap};
  plan.buffer_bytes = {0};
  plan.works = {Work::kCount};
  SystemClock clock;
  std::vector<Row> rows;
  absl::Status status;
  std::thread([&] {
    ASSERT_TRUE(reader::BlockIoUring());
    status = RunPlan(file, plan, clock, [&rows](const Row& row) {
      rows.push_back(row);
      return true;
    });
  }).join();
  ASSERT_OK(status);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_THAT(rows[0].unavailable, testing::HasSubstr("io_uring"));
  EXPECT_EQ(rows[1].unavailable, "");
  EXPECT_EQ(rows[1].ratio, 1);
}

TEST(RunPlanTest, StopsWhenToldTo) {
  ASSERT_OK_AND_ASSIGN(auto file, SmallCorpus(5'000));
  Plan plan;
  plan.strategies = {Strategy::kBlocking};
  plan.buffer_bytes = {64, 128};
  plan.works = {Work::kCount};
  plan.cold = true;
  SystemClock clock;
  int rows = 0;
  EXPECT_THAT(RunPlan(file, plan, clock,
                      [&rows](const Row&) {
                        ++rows;
                        return false;
                      }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(rows, 1);
  plan.keep_going = [](const reader::LineCounts&) { return false; };
  EXPECT_THAT(RunPlan(file, plan, clock, [](const Row&) { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(RunPlanTest, RefusesOptionsOutOfRange) {
  ASSERT_OK_AND_ASSIGN(auto file, SmallCorpus(5'000));
  Plan plan;
  plan.strategies = {Strategy::kBlocking};
  plan.buffer_bytes = {1};
  plan.works = {Work::kCount};
  SystemClock clock;
  EXPECT_THAT(RunPlan(file, plan, clock, [](const Row&) { return true; }),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::file_scan::bench
