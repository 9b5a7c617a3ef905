#include "services/download_worker/engine/executor.h"

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"

namespace bimbackup::engine {
namespace {

TEST(ExecutorTest, RunsWhatWasPostedBeforeItGoes) {
  SystemClock clock;
  std::atomic<int> done = 0;
  {
    Executor executor(clock, 3);
    for (int i = 0; i < 1000; ++i) executor.Post([&] { ++done; });
  }
  EXPECT_EQ(done, 1000);
}

TEST(ExecutorTest, TasksThatBlockHaveAllThreads) {
  constexpr int kThreads = 8;
  SystemClock clock;
  Executor executor(clock, kThreads);
  // Again, once those that are not needed have stepped back.
  for (int round = 0; round < 3; ++round) {
    const auto all = std::make_shared<std::latch>(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      executor.Post([all] { all->arrive_and_wait(); });
    }
    absl::Notification after;
    executor.Post([&after] { after.Notify(); });
    after.WaitForNotification();
  }
}

TEST(ExecutorTest, TimersRunBesideTasksThatBlock) {
  SystemClock clock;
  Executor executor(clock, 3);
  absl::Notification timer;
  absl::BlockingCounter blocked(2);
  for (int i = 0; i < 2; ++i) {
    executor.Post([&] {
      blocked.DecrementCount();
      timer.WaitForNotification();
    });
  }
  blocked.Wait();
  // Longer than tasks are watched after the last one was posted.
  const absl::Duration due = clock.Monotonic() + absl::Milliseconds(300);
  std::atomic<int64_t> late_ms = 0;
  executor.PostAt(due, [&] {
    late_ms = absl::ToInt64Milliseconds(clock.Monotonic() - due);
    timer.Notify();
  });
  timer.WaitForNotification();
  EXPECT_LT(late_ms, 600);
}

TEST(ExecutorTest, FewThreadsDoWhatDoesNotBlock) {
  // Its time stands still: nothing ever waits long.
  FakeClock clock;
  Mutex mutex;
  std::set<std::thread::id> threads;
  {
    Executor executor(clock, 8);
    for (int i = 0; i < 1000; ++i) {
      executor.Post([&] {
        MutexLock lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_LE(threads.size(), 2u);
}

TEST(ExecutorTest, WaitsForTheTimeOfATask) {
  FakeClock clock;
  std::atomic<bool> done = false;
  absl::Notification other;
  Executor executor(clock, 2);
  executor.PostAt(clock.Monotonic() + absl::Seconds(5), [&] { done = true; });
  executor.PostAt(clock.Monotonic() + absl::Seconds(1),
                  [&] { other.Notify(); });
  clock.Advance(absl::Seconds(2));
  other.WaitForNotification();
  EXPECT_FALSE(done);
}

TEST(ExecutorTest, DropsWhatIsNotDueWhenItGoes) {
  FakeClock clock;
  bool done = false;
  {
    Executor executor(clock, 1);
    executor.PostAt(clock.Monotonic() + absl::Hours(1), [&] { done = true; });
  }
  EXPECT_FALSE(done);
}

TEST(StrandTest, RunsOneAtATimeInOrder) {
  SystemClock clock;
  std::vector<int> order;
  {
    Executor executor(clock, 4);
    Strand strand(executor);
    for (int i = 0; i < 500; ++i) {
      strand.Post([&order, i] { order.push_back(i); });
    }
  }
  ASSERT_EQ(order.size(), 500u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(StrandTest, OutlivesItsExecutorOnceItIsClosed) {
  SystemClock clock;
  std::optional<Executor> executor;
  executor.emplace(clock, 1);
  Strand strand(*executor);
  strand.Close();
  executor.reset();
  strand.Post([] { FAIL(); });
}

}  // namespace
}  // namespace bimbackup::engine
