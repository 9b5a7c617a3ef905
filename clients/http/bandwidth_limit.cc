#include "clients/http/bandwidth_limit.h"

#include <algorithm>

namespace bimbackup::http {
namespace {

// How much unused time may be made up for in one burst.
constexpr absl::Duration kBurst = absl::Milliseconds(100);

}  // namespace

bool BandwidthLimit::MayDeliver(absl::Duration now) const {
  return !capped() || FreeAt() <= now;
}

void BandwidthLimit::Deliver(int64_t bytes, absl::Duration now) {
  if (!capped()) return;
  const absl::Duration cost =
      absl::Seconds(1) *
      (static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
  MutexLock lock(mutex_);
  paid_until_ = std::max(paid_until_, now - kBurst) + cost;
}

absl::Duration BandwidthLimit::FreeAt() const {
  MutexLock lock(mutex_);
  return paid_until_;
}

}  // namespace bimbackup::http
