// How long to wait before a retry.

#ifndef SERVICES_COMMON_BACKOFF_H_
#define SERVICES_COMMON_BACKOFF_H_

#include "absl/time/time.h"
#include "services/common/random.h"

namespace bimbackup {

// Exponential backoff with full jitter: attempt n waits a uniformly random
// time between zero and min(maximum, initial × 2^n). A value.
struct Backoff {
  absl::Duration initial = absl::Milliseconds(200);
  absl::Duration maximum = absl::Seconds(30);
  // Attempts in all, the first one included.
  int max_attempts = 5;

  // The wait before attempt `attempt` (1 is the first retry).
  absl::Duration Delay(int attempt, Random& random) const;
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_BACKOFF_H_
