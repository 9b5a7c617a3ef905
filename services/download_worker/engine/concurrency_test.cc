#include "services/download_worker/engine/concurrency.h"

#include <algorithm>
#include <set>

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
        concurrency_.CountBytes(rate(concurrency_.slots()) / 100);
        concurrency_.CountEnd(absl::Milliseconds(200), request < failures);
      }
      now_ += absl::Seconds(2);
      concurrency_.Tick(now_, concurrency_.slots(), capped);
    }
  }

  // So many seconds of requests that last 8 s and begin together; the
  // network moves what `rate` says of the slots. Returns the most slots.
  template <typename Rate>
  int RunLongRequests(int seconds, Rate rate) {
    int most = 0;
    for (int i = 1; i <= seconds; ++i) {
      concurrency_.CountBytes(rate(concurrency_.slots()));
      for (int ended = 0; i % 8 == 0 && ended < concurrency_.slots(); ++ended) {
        concurrency_.CountEnd(absl::Seconds(8), false);
      }
      now_ += absl::Seconds(1);
      concurrency_.Tick(now_, concurrency_.slots(), false);
      most = std::max(most, concurrency_.slots());
    }
    return most;
  }

  // A second in which a few requests end, some of them lost.
  void RunFewRequests(int ended, int failures) {
    concurrency_.CountBytes(10 * kMegabyte);
    for (int i = 0; i < ended; ++i) {
      concurrency_.CountEnd(absl::Seconds(1), i < failures);
    }
    now_ += absl::Seconds(1);
    concurrency_.Tick(now_, /*in_use=*/3, false);
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

TEST_F(ConcurrencyTest, ASingleFailureOfFewRequestsIsNoOverload) {
  for (int i = 0; i < 20; ++i) RunFewRequests(2, i % 2);
  EXPECT_EQ(concurrency_.slots(), 16);
  for (int i = 0; i < 4; ++i) RunFewRequests(2, 1);
  EXPECT_LT(concurrency_.slots(), 16);
}

TEST_F(ConcurrencyTest, ClimbsWithRequestsThatOutlastARound) {
  RunLongRequests(200, [](int slots) { return slots * 2 * kMegabyte; });
  EXPECT_EQ(concurrency_.slots(), 64);
}

TEST_F(ConcurrencyTest, StaysWithRequestsThatOutlastARound) {
  EXPECT_LE(RunLongRequests(600, [](int) { return 40 * kMegabyte; }), 20);
}

TEST_F(ConcurrencyTest, WaitsForTheBytesOfAStep) {
  // Each request is silent for 6 s, then all its bytes come at once.
  std::multiset<absl::Duration> ends;
  for (int i = 0; i < 200; ++i) {
    while (ends.size() < static_cast<size_t>(concurrency_.slots())) {
      ends.insert(now_ + absl::Seconds(6));
    }
    now_ += absl::Seconds(1);
    for (; !ends.empty() && *ends.begin() <= now_; ends.erase(ends.begin())) {
      concurrency_.CountBytes(kMegabyte);
      concurrency_.CountEnd(absl::Seconds(6), false);
    }
    concurrency_.Tick(now_, concurrency_.slots(), false);
    ASSERT_GE(concurrency_.slots(), 16);
  }
  EXPECT_GE(concurrency_.slots(), 60);
}

TEST_F(ConcurrencyTest, SilenceIsNoReasonToClimb) {
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    EXPECT_FALSE(concurrency_.Tick(now_, concurrency_.slots(), false));
  }
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
    concurrency_.CountBytes(kMegabyte);
    concurrency_.CountEnd(absl::Seconds(1), false);
    now_ += absl::Seconds(2);
    EXPECT_FALSE(concurrency_.Tick(now_, 3, false));
  }
  EXPECT_EQ(concurrency_.slots(), 16);
}

}  // namespace
}  // namespace bimbackup::engine
