// How many transfers a worker keeps beside those that it works on.

#ifndef SERVICES_DOWNLOAD_WORKER_LEASE_LOOKAHEAD_H_
#define SERVICES_DOWNLOAD_WORKER_LEASE_LOOKAHEAD_H_

#include <cstdint>

#include "absl/time/time.h"

namespace bimbackup::worker_lease {

// As many as it lately ended within two seconds: enough that its queue stays
// ahead of it, and not so many that, near the end of a backup, they wait for
// it while other workers have nothing left to do. Not thread-safe.
class Lookahead {
 public:
  // `ended` is how many transfers have ended so far, at `now`, which does not
  // go back; `slots` how many requests run at once. From a quarter of `slots`,
  // with which it begins, to `slots`, or to a batch for small workers.
  int Transfers(int64_t ended, absl::Duration now, int slots);

 private:
  // Transfers, in the last measured interval.
  double per_second_ = 0;
  int64_t ended_before_ = 0;
  absl::Duration began_ = absl::InfiniteDuration();
};

}  // namespace bimbackup::worker_lease

#endif  // SERVICES_DOWNLOAD_WORKER_LEASE_LOOKAHEAD_H_
