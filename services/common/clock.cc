#include "services/common/clock.h"

#include <algorithm>
#include <chrono>

#include "absl/time/clock.h"

namespace bimbackup {

void Clock::Sleep(absl::Duration duration) {
  Mutex mutex;
  CondVar condition;
  const absl::Duration deadline = Monotonic() + duration;
  MutexLock lock(mutex);
  while (WaitUntil(mutex, condition, deadline)) {
  }
}

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Monotonic() const {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

bool SystemClock::WaitUntil(Mutex& mutex, CondVar& condition,
                            absl::Duration deadline) {
  if (deadline == absl::InfiniteDuration()) {
    condition.Wait(mutex);
    return true;
  }
  const absl::Duration left = deadline - Monotonic();
  if (left <= absl::ZeroDuration()) return false;
  // Bounded, because std::condition_variable overflows on huge timeouts.
  condition.WaitFor(mutex, std::min(left, absl::Hours(1)));
  return Monotonic() < deadline;
}

}  // namespace bimbackup
