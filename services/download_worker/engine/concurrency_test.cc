#include "services/download_worker/engine/concurrency.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace bimbackup::engine {
namespace {

constexpr int64_t kMegabyte = 1'000'000;

class ConcurrencyTest : public testing::Test {
 protected:
  // Rounds in which the network moves what `rate` says of the slots.
  template <typename Rate>
  void Run(int rounds, Rate rate, int failures = 0, bool capped = false) {
    for (int i = 0; i < rounds; ++i) {
      for (int request = 0; request < 100; ++request) {
        concurrency_.Count(rate(concurrency_.slots()) / 100,
                           request < failures);
      }
      now_ += absl::Seconds(2);
      concurrency_.Tick(now_, concurrency_.slots(), capped);
    }
  }

  Concurrency concurrency_{16, 64};
  absl::Duration now_ = absl::Seconds(1000);
};

TEST_F(ConcurrencyTest, ClimbsToItsMostWhileThatMovesMore) {
  Run(20, [](int slots) { return slots * 10 * kMegabyte; });
  EXPECT_EQ(concurrency_.slots(), 64);
}

TEST_F(ConcurrencyTest, StaysWhereMoreRequestsMoveNoMore) {
  Run(40, [](int slots) { return std::min(slots, 20) * 100 * kMegabyte; });
  EXPECT_GE(concurrency_.slots(), 16);
  EXPECT_LE(concurrency_.slots(), 31);
}

TEST_F(ConcurrencyTest, FallsBackWhenRequestsFail) {
  Run(
      2, [](int) { return kMegabyte; }, /*failures=*/30);
  EXPECT_LT(concurrency_.slots(), 16);
  Run(
      40, [](int) { return kMegabyte; }, /*failures=*/30);
  EXPECT_EQ(concurrency_.slots(), 4);
}

TEST_F(ConcurrencyTest, ASingleFailureIsNoOverload) {
  Run(
      2, [](int slots) { return slots * 10 * kMegabyte; }, /*failures=*/1);
  EXPECT_GE(concurrency_.slots(), 16);
}

TEST_F(ConcurrencyTest, ComesBackWhenTheTroubleIsOver) {
  Run(
      10, [](int) { return kMegabyte; }, /*failures=*/30);
  Run(40, [](int slots) { return slots * 10 * kMegabyte; });
  EXPECT_GE(concurrency_.slots(), 16);
}

TEST_F(ConcurrencyTest, OurOwnCapIsNoReasonToClimb) {
  Run(
      10, [](int slots) { return slots * kMegabyte; }, 0, /*capped=*/true);
  EXPECT_EQ(concurrency_.slots(), 16);
}

TEST_F(ConcurrencyTest, IdleSlotsAreNoReasonToClimb) {
  for (int i = 0; i < 10; ++i) {
    concurrency_.Count(kMegabyte, false);
    now_ += absl::Seconds(2);
    EXPECT_FALSE(concurrency_.Tick(now_, 3, false));
  }
  EXPECT_EQ(concurrency_.slots(), 16);
}

}  // namespace
}  // namespace bimbackup::engine
