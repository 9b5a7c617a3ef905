// A cap on bytes a second, shared by the transfers of a transport.

#ifndef CLIENTS_HTTP_BANDWIDTH_LIMIT_H_
#define CLIENTS_HTTP_BANDWIDTH_LIMIT_H_

#include <cstdint>

#include "absl/time/time.h"
#include "services/common/mutex.h"

namespace bimbackup::http {

// A token bucket that may go into debt: bytes that have arrived are always
// delivered, and then paid for by waiting. Thread-safe. Times are
// Clock::Monotonic().
class BandwidthLimit {
 public:
  // 0 bytes a second: no cap.
  explicit BandwidthLimit(int64_t bytes_per_second)
      : bytes_per_second_(bytes_per_second) {}

  // Another cap from `now` on, at which what is not paid for yet is paid, too;
  // 0 forgives it.
  void SetRate(int64_t bytes_per_second, absl::Duration now);

  // Whether bytes may be delivered at `now`.
  bool MayDeliver(absl::Duration now) const;

  // Accounts for bytes that were delivered at `now`.
  void Deliver(int64_t bytes, absl::Duration now);

  // When MayDeliver() becomes true, unless somebody else delivers first.
  absl::Duration FreeAt() const;

 private:
  mutable Mutex mutex_;
  int64_t bytes_per_second_ ABSL_GUARDED_BY(mutex_);
  // The instant up to which everything delivered is paid for.
  absl::Duration paid_until_ ABSL_GUARDED_BY(mutex_) =
      -absl::InfiniteDuration();
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_BANDWIDTH_LIMIT_H_
