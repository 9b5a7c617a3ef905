#include "services/common/clock.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "services/common/fake_clock.h"

namespace bimbackup {
namespace {

TEST(SystemClockTest, MonotonicNeverGoesBack) {
  SystemClock clock;
  absl::Duration last = clock.Monotonic();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration now = clock.Monotonic();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(SystemClockTest, WaitEndsAtItsDeadline) {
  SystemClock clock;
  Mutex mutex;
  CondVar condition;
  MutexLock lock(mutex);
  const absl::Duration deadline = clock.Monotonic() + absl::Milliseconds(5);
  while (clock.WaitUntil(mutex, condition, deadline)) {
  }
  EXPECT_GE(clock.Monotonic(), deadline);
}

TEST(FakeClockTest, SleepEndsWhenTheClockIsAdvanced) {
  FakeClock clock;
  const absl::Time before = clock.Now();
  std::atomic<bool> awake = false;
  std::jthread sleeper([&] {
    clock.Sleep(absl::Hours(2));
    awake = true;
  });
  // The sleeper may start late: time goes on until it has slept enough.
  while (!awake) {
    clock.Advance(absl::Minutes(1));
    std::this_thread::yield();
  }
  EXPECT_GE(clock.Now() - before, absl::Hours(2));
}

}  // namespace
}  // namespace bimbackup
