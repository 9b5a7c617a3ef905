#include "services/coordinator/backup/watch_hub.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/mutex.h"

namespace bimbackup::backup {
namespace {

using catalog::BackupState;

// One backup whose state a test sets, and what a watcher was shown of it.
class WatchHubTest : public testing::Test {
 protected:
  void SetState(BackupState state) {
    MutexLock lock(mutex_);
    state_ = state;
  }

  int64_t Watch() {
    return hub_.Watch(1, [this](const BackupView& view) {
      MutexLock lock(mutex_);
      shown_.push_back(view.record.state);
      changed_.NotifyAll();
    });
  }

  // Waits until the watcher was shown so many views; false after a while.
  bool AwaitShown(size_t count) {
    MutexLock lock(mutex_);
    while (shown_.size() < count) {
      if (!changed_.WaitFor(mutex_, absl::Seconds(20))) return false;
    }
    return true;
  }

  std::vector<BackupState> shown() {
    MutexLock lock(mutex_);
    return shown_;
  }

  FakeClock clock_;
  Mutex mutex_;
  CondVar changed_;
  BackupState state_ ABSL_GUARDED_BY(mutex_) = BackupState::kCrawling;
  std::vector<BackupState> shown_ ABSL_GUARDED_BY(mutex_);
  WatchHub hub_{[this](catalog::BackupNumber number) {
                  BackupView view;
                  view.record.number = number;
                  MutexLock lock(mutex_);
                  view.record.state = state_;
                  return absl::StatusOr<BackupView>(view);
                },
                clock_};
};

TEST_F(WatchHubTest, ShowsTheStateAtOnce) {
  Watch();
  EXPECT_TRUE(AwaitShown(1));
}

TEST_F(WatchHubTest, ShowsTheEndAtOnceAndNothingAfterIt) {
  Watch();
  ASSERT_TRUE(AwaitShown(1));
  SetState(BackupState::kSucceeded);
  hub_.Notify(/*at_once=*/true);
  ASSERT_TRUE(AwaitShown(2));
  hub_.Notify(/*at_once=*/true);
  // A second watcher's view proves that the hub has been round again.
  Watch();
  ASSERT_TRUE(AwaitShown(3));
  EXPECT_THAT(shown(), testing::ElementsAre(BackupState::kCrawling,
                                            BackupState::kSucceeded,
                                            BackupState::kSucceeded));
}

TEST_F(WatchHubTest, HoldsChangesBackForAQuarterOfASecond) {
  Watch();
  ASSERT_TRUE(AwaitShown(1));
  for (int i = 0; i < 100; ++i) hub_.Notify(/*at_once=*/false);
  EXPECT_EQ(shown().size(), 1);
  clock_.Advance(absl::Milliseconds(250));
  EXPECT_TRUE(AwaitShown(2));
  EXPECT_EQ(shown().size(), 2);
}

TEST_F(WatchHubTest, ShowsAQuietBackupOnceASecond) {
  Watch();
  ASSERT_TRUE(AwaitShown(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(AwaitShown(2));
}

TEST_F(WatchHubTest, ShowsNothingToWhoHasLeft) {
  const int64_t watch = Watch();
  ASSERT_TRUE(AwaitShown(1));
  hub_.Unwatch(watch);
  SetState(BackupState::kSucceeded);
  hub_.Notify(/*at_once=*/true);
  EXPECT_EQ(shown().size(), 1);
}

}  // namespace
}  // namespace bimbackup::backup
