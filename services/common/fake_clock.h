// A Clock that stands still until a test moves it.

#ifndef SERVICES_COMMON_FAKE_CLOCK_H_
#define SERVICES_COMMON_FAKE_CLOCK_H_

#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup {

// Waiters notice within a millisecond of real time that Advance() has
// reached their deadline. Thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(absl::Time now = absl::FromUnixSeconds(1'700'000'000))
      : start_(now) {}

  absl::Time Now() const override { return start_ + Elapsed(); }

  // Starts away from zero, so that "time 0" is not mistaken for "never".
  absl::Duration Monotonic() const override {
    return absl::Seconds(1000) + Elapsed();
  }

  bool WaitUntil(Mutex& mutex, CondVar& condition,
                 absl::Duration deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (Monotonic() >= deadline) return false;
    condition.WaitFor(mutex, absl::Milliseconds(1));
    return Monotonic() < deadline;
  }

  // Moves both the wall clock and the monotonic one forward.
  void Advance(absl::Duration duration) {
    MutexLock lock(mutex_);
    elapsed_ += duration;
  }

 private:
  absl::Duration Elapsed() const {
    MutexLock lock(mutex_);
    return elapsed_;
  }

  const absl::Time start_;
  mutable Mutex mutex_;
  absl::Duration elapsed_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_FAKE_CLOCK_H_
