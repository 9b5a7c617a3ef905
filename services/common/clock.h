// The time seam: everything that reads the time or waits takes a Clock.

#ifndef SERVICES_COMMON_CLOCK_H_
#define SERVICES_COMMON_CLOCK_H_

#include "absl/time/time.h"
#include "services/common/mutex.h"

namespace bimbackup {

// A source of time. Thread-safe. Outlives what it is given to.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall-clock time, which may jump: for what people read and for nothing
  // that measures or expires.
  virtual absl::Time Now() const = 0;

  // Time since a fixed, arbitrary point; never goes back.
  virtual absl::Duration Monotonic() const = 0;

  // Releases `mutex`, waits until `condition` is notified or Monotonic()
  // reaches `deadline` (absl::InfiniteDuration() for none), takes `mutex`
  // again. Returns false when the deadline has passed. Wakes spuriously.
  virtual bool WaitUntil(Mutex& mutex, CondVar& condition,
                         absl::Duration deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;

  // Waits for `duration`. For what cannot be interrupted; prefer WaitUntil
  // on a condition that cancellation notifies.
  void Sleep(absl::Duration duration);
};

// The machine's clock.
class SystemClock : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Monotonic() const override;
  bool WaitUntil(Mutex& mutex, CondVar& condition,
                 absl::Duration deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_CLOCK_H_
