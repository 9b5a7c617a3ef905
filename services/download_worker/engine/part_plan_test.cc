#include "services/download_worker/engine/part_plan.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::engine {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;

constexpr PartSizes kSizes{.split_from = 100, .smallest = 50, .largest = 80};

Source Whole(std::optional<int64_t> size) {
  Source source;
  source.ranges.push_back({.first = 0, .last = -1, .url = "u"});
  source.size = size;
  return source;
}

// "begin-end" of each part.
std::vector<std::pair<int64_t, int64_t>> Limits(
    const std::vector<Part>& parts) {
  std::vector<std::pair<int64_t, int64_t>> limits;
  for (const Part& part : parts) {
    limits.emplace_back(part.begin, part.end.value_or(-1));
  }
  return limits;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST(PartSizesTest, CutFinerWhereSlotsAreSpare) {
  PartSizes sizes;
  EXPECT_EQ(sizes.For(64 << 20), 16 << 20);
  sizes.spare_slots = 32;
  EXPECT_EQ(sizes.For(64 << 20), 4 << 20);
  EXPECT_EQ(sizes.For(256 << 20), 8 << 20);
  EXPECT_EQ(sizes.For(int64_t{4} << 30), 16 << 20);
  EXPECT_EQ(sizes.For(1 << 20), 1 << 20) << "small files come whole";
}

TEST(PartPlanTest, LeavesASmallFileWhole) {
  EXPECT_EQ(Limits(PlanParts(Whole(99), {}, kSizes)), (Pairs{{0, 99}}));
}

TEST(PartPlanTest, CutsALargeFile) {
  EXPECT_EQ(Limits(PlanParts(Whole(130), {}, kSizes)),
            (Pairs{{0, 50}, {50, 100}, {100, 130}}));
  EXPECT_EQ(PlanParts(Whole(1000), {}, kSizes).front().end, 80);
}

TEST(PartPlanTest, MakesOneOpenPartWithoutASize) {
  EXPECT_EQ(Limits(PlanParts(Whole(std::nullopt), {}, kSizes)),
            (Pairs{{0, -1}}));
  EXPECT_EQ(Limits(PlanParts(Whole(0), {}, kSizes)), (Pairs{{0, -1}}));
}

TEST(PartPlanTest, LeavesOutWhatWasRecovered) {
  EXPECT_EQ(Limits(PlanParts(Whole(130), {{0, 50}, {60, 100}}, kSizes)),
            (Pairs{{50, 60}, {100, 130}}));
}

TEST(PartPlanTest, FetchesTheLastPartAgainWhereAllWasRecovered) {
  EXPECT_EQ(Limits(PlanParts(Whole(130), {{0, 130}}, kSizes)),
            (Pairs{{80, 130}}));
}

TEST(PartPlanTest, CutsAtTheBordersOfTheSource) {
  Source source;
  source.ranges = {{0, 69, "a"}, {70, 129, "b"}};
  EXPECT_EQ(Limits(PlanParts(source, {}, kSizes)),
            (Pairs{{0, 50}, {50, 70}, {70, 120}, {120, 130}}));
}

TEST(PartPlanTest, AsksForAWholeUrlWithoutARange) {
  const Source source = Whole(99);
  const Part part = PlanParts(source, {}, kSizes)[0];
  const PartRequest request = NextRequest(source, part);
  EXPECT_FALSE(request.ranged());
  EXPECT_EQ(request.end, 99);
}

TEST(PartPlanTest, AsksForTheRestOfAPart) {
  Source source;
  source.ranges = {{0, 69, "a"}, {70, 129, "b"}};
  Part part = PlanParts(source, {}, kSizes)[2];
  part.position = 90;
  const PartRequest request = NextRequest(source, part);
  EXPECT_TRUE(request.ranged());
  EXPECT_EQ(request.range_index, 1u);
  // Within the URL, not within the file.
  EXPECT_EQ(RangeHeader(request), "bytes=20-49");
}

TEST(PartPlanTest, EndsARequestWhereItsUrlEnds) {
  Source source;
  source.ranges = {{0, 69, "a"}, {70, 129, "b"}};
  const Part part{.begin = 50, .position = 50, .end = 100};
  EXPECT_EQ(NextRequest(source, part).end, 70);
}

TEST(PartPlanTest, RefusesSourcesThatDoNotAddUp) {
  Source source;
  EXPECT_THAT(CheckSource(source), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("no URL")));
  source.ranges = {{0, 9, "a"}, {11, 19, "b"}};
  EXPECT_THAT(CheckSource(source),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gap")));
  source.ranges = {{0, -1, "a"}, {0, 9, "b"}};
  EXPECT_FALSE(CheckSource(source).ok());
  source.ranges = {{0, 9, "a"}, {10, 19, "b"}};
  EXPECT_OK(CheckSource(source));
  source.size = 21;
  EXPECT_THAT(CheckSource(source), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("add up")));
  source.size = 20;
  EXPECT_OK(CheckSource(source));
  EXPECT_OK(CheckSource(Whole(0)));
  EXPECT_FALSE(CheckSource(Whole(-1)).ok());
}

}  // namespace
}  // namespace bimbackup::engine
