#include "clients/bim360/api_limiter.h"

#include <atomic>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;

constexpr EndpointClass kProjects = EndpointClass::kProjects;

// How many calls get their turn at once, before one would have to wait.
int TakeAll(ApiLimiter& limiter, EndpointClass endpoint_class,
            FakeClock& clock) {
  int taken = 0;
  while (limiter.Acquire(endpoint_class, clock.Monotonic()).ok()) ++taken;
  return taken;
}

TEST(ApiLimiterTest, LetsTheRateThroughAndNoMore) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 50);
  clock.Advance(absl::Seconds(60));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 0);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 50);
  EXPECT_EQ(TakeAll(limiter, EndpointClass::kFolders, clock), 300);
  EXPECT_EQ(TakeAll(limiter, EndpointClass::kStorage, clock), 1000);
  EXPECT_EQ(TakeAll(limiter, EndpointClass::kToken, clock), 500);
}

TEST(ApiLimiterTest, KeepsTheRateInEveryMinuteNotOnlyInWholeOnes) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  for (int i = 0; i < 25; ++i) {
    EXPECT_OK(limiter.Acquire(kProjects, clock.Monotonic()));
  }
  clock.Advance(absl::Seconds(40));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 25);
  clock.Advance(absl::Seconds(21));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 25);
}

// It may have arrived at any time until then.
TEST(ApiLimiterTest, ACallsMinuteBeginsWhenItIsAnswered) {
  FakeClock clock;
  ApiLimiter limiter(0.04, clock);
  auto first =
      std::make_optional(limiter.Acquire(kProjects, clock.Monotonic()));
  EXPECT_OK(*first);
  auto second =
      std::make_optional(limiter.Acquire(kProjects, clock.Monotonic()));
  EXPECT_OK(*second);
  clock.Advance(absl::Minutes(5));
  EXPECT_THAT(limiter.Acquire(kProjects, clock.Monotonic()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  first.reset();
  clock.Advance(absl::Seconds(59));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 0);
  clock.Advance(absl::Seconds(2));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 1);
  second.reset();
  clock.Advance(absl::Seconds(61));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 2);
}

TEST(ApiLimiterTest, AnAnswerLetsInWhoWaitsForIt) {
  FakeClock clock;
  ApiLimiter limiter(0.02, clock);
  auto running =
      std::make_optional(limiter.Acquire(kProjects, clock.Monotonic()));
  std::thread waiter(
      [&] { EXPECT_OK(limiter.Acquire(kProjects, absl::InfiniteDuration())); });
  while (limiter.GetUsage(kProjects).waiting == 0) std::this_thread::yield();
  running.reset();
  clock.Advance(absl::Seconds(61));
  waiter.join();
}

TEST(ApiLimiterTest, BudgetShrinksTheCallsOrTheMinute) {
  FakeClock clock;
  ApiLimiter half(0.5, clock);
  EXPECT_EQ(TakeAll(half, kProjects, clock), 25);
  ApiLimiter tiny(0.0001, clock);
  EXPECT_EQ(TakeAll(tiny, kProjects, clock), 1);
  ApiLimiter tenfold(10, clock);
  EXPECT_EQ(TakeAll(tenfold, kProjects, clock), 50);
  clock.Advance(absl::Milliseconds(6'100));
  EXPECT_EQ(TakeAll(tenfold, kProjects, clock), 50);
  ApiLimiter unlimited(std::numeric_limits<double>::infinity(), clock);
  for (int i = 0; i < 5000; ++i) {
    EXPECT_OK(unlimited.Acquire(kProjects, clock.Monotonic()));
  }
}

TEST(ApiLimiterTest, AChangedBudgetCountsTheCallsThatWereMade) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 50);
  limiter.SetBudget(0.5);
  EXPECT_EQ(limiter.CallsPerMinute(kProjects), 25);
  clock.Advance(absl::Seconds(59));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 0);
  clock.Advance(absl::Seconds(2));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 25);
  limiter.SetBudget(1);
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 25);
  limiter.SetBudget(10);
  clock.Advance(absl::Seconds(7));
  EXPECT_EQ(TakeAll(limiter, kProjects, clock), 50);
}

TEST(ApiLimiterTest, AGreaterBudgetReachesWhoWaitsAlready) {
  FakeClock clock;
  ApiLimiter limiter(0.02, clock);
  EXPECT_OK(limiter.Acquire(kProjects, clock.Monotonic()));
  std::thread waiter([&] {
    EXPECT_OK(limiter.Acquire(kProjects, clock.Monotonic() + absl::Hours(1)));
  });
  while (limiter.GetUsage(kProjects).waiting == 0) std::this_thread::yield();
  limiter.SetBudget(1);
  waiter.join();
  EXPECT_EQ(limiter.GetUsage(kProjects).calls, 2);
}

TEST(ApiLimiterTest, PauseHoldsEverybodyOfThatClass) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  limiter.Pause(kProjects, absl::Seconds(30));
  limiter.Pause(kProjects, absl::Seconds(1));
  EXPECT_THAT(limiter.Acquire(kProjects, clock.Monotonic() + absl::Seconds(9)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_OK(limiter.Acquire(EndpointClass::kFolders, clock.Monotonic()));
  clock.Advance(absl::Seconds(30));
  EXPECT_OK(limiter.Acquire(kProjects, clock.Monotonic()));
  EXPECT_EQ(limiter.GetUsage(kProjects).calls, 1);
}

TEST(ApiLimiterTest, ServesWaitersInTheirOrder) {
  FakeClock clock;
  // One call in a window, so that the turns can be told apart.
  ApiLimiter limiter(0.001, clock);
  EXPECT_OK(limiter.Acquire(kProjects, clock.Monotonic()));
  std::atomic<int> served = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_OK(limiter.Acquire(kProjects, absl::InfiniteDuration()));
      EXPECT_EQ(served++, i);
    });
    while (limiter.GetUsage(kProjects).waiting != i + 1) {
      std::this_thread::yield();
    }
  }
  for (int i = 0; i < 5; ++i) {
    clock.Advance(absl::Seconds(61));
    while (served != i + 1) std::this_thread::yield();
  }
  threads.clear();
  EXPECT_GE(limiter.GetUsage(kProjects).waited, absl::Seconds(5 * 61));
}

TEST(ApiLimiterTest, AStopEndsTheWaitsThatItIsFor) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  limiter.Pause(kProjects, absl::Minutes(10));
  std::stop_source stopped;
  std::thread first([&] {
    EXPECT_THAT(limiter.Acquire(kProjects, absl::InfiniteDuration(),
                                stopped.get_token()),
                StatusIs(absl::StatusCode::kCancelled));
  });
  while (limiter.GetUsage(kProjects).waiting != 1) std::this_thread::yield();
  std::stop_source other;
  std::thread second([&] {
    EXPECT_OK(limiter.Acquire(kProjects, absl::InfiniteDuration(),
                              other.get_token()));
  });
  while (limiter.GetUsage(kProjects).waiting != 2) std::this_thread::yield();
  stopped.request_stop();
  first.join();
  EXPECT_EQ(limiter.GetUsage(kProjects).waiting, 1);
  EXPECT_THAT(limiter.Acquire(EndpointClass::kFolders, absl::InfiniteDuration(),
                              stopped.get_token()),
              StatusIs(absl::StatusCode::kCancelled))
      << "also where there is a turn to take";
  clock.Advance(absl::Minutes(10));
  second.join();
  EXPECT_EQ(limiter.GetUsage(kProjects).calls, 1);
}

TEST(ApiLimiterTest, CancelEndsWaits) {
  FakeClock clock;
  ApiLimiter limiter(1, clock);
  limiter.Pause(kProjects, absl::Hours(1));
  std::thread waiter([&] {
    EXPECT_THAT(limiter.Acquire(kProjects, absl::InfiniteDuration()),
                StatusIs(absl::StatusCode::kCancelled));
  });
  while (limiter.GetUsage(kProjects).waiting == 0) std::this_thread::yield();
  limiter.Cancel();
  waiter.join();
  EXPECT_THAT(limiter.Acquire(kProjects, absl::InfiniteDuration()),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace bimbackup::bim360
