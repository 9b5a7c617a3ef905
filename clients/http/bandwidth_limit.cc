#include "clients/http/bandwidth_limit.h"

#include <algorithm>

namespace bimbackup::http {
namespace {

// How much unused time may be made up for in one burst.
constexpr absl::Duration kBurst = absl::Milliseconds(100);

}  // namespace

void BandwidthLimit::SetRate(int64_t bytes_per_second, absl::Duration now) {
  MutexLock lock(mutex_);
  if (bytes_per_second == 0) {
    // Nobody owes anything for bytes that need not be paid for.
    paid_until_ = -absl::InfiniteDuration();
  } else if (bytes_per_second_ > 0 && paid_until_ > now) {
    paid_until_ =
        now + (paid_until_ - now) * (static_cast<double>(bytes_per_second_) /
                                     static_cast<double>(bytes_per_second));
  }
  bytes_per_second_ = bytes_per_second;
}

bool BandwidthLimit::MayDeliver(absl::Duration now) const {
  return FreeAt() <= now;
}

void BandwidthLimit::Deliver(int64_t bytes, absl::Duration now) {
  MutexLock lock(mutex_);
  if (bytes_per_second_ == 0) return;
  const absl::Duration cost =
      absl::Seconds(1) *
      (static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
  paid_until_ = std::max(paid_until_, now - kBurst) + cost;
}

absl::Duration BandwidthLimit::FreeAt() const {
  MutexLock lock(mutex_);
  return bytes_per_second_ == 0 ? -absl::InfiniteDuration() : paid_until_;
}

}  // namespace bimbackup::http
