#include "services/bim360_emulator/rate_limits.h"

#include <algorithm>

namespace bimbackup::bim360_emulator {

RateLimits::RateLimits(bool enforced, double time_scale, const Clock& clock)
    : minute_(absl::Minutes(1) / time_scale),
      clock_(clock),
      enforced_(enforced) {}

void RateLimits::Window::Add(absl::Duration now, absl::Duration grain) {
  if (bursts.empty() || now - bursts.back().time >= grain) {
    bursts.push_back({now, 0});
  }
  ++bursts.back().count;
  ++sum;
}

void RateLimits::Window::Expire(absl::Duration before) {
  while (!bursts.empty() && bursts.front().time <= before) {
    sum -= bursts.front().count;
    bursts.pop_front();
  }
}

std::optional<absl::Duration> RateLimits::Admit(Endpoint endpoint) {
  const Endpoint limit_class = LimitClass(endpoint);
  const int rate = EndpointRate(limit_class);
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration grain = minute_ / 60'000;
  MutexLock lock(mutex_);
  Class& state = classes_[static_cast<size_t>(limit_class)];
  state.seen.Expire(now - minute_);
  state.admitted.Expire(now - minute_);
  state.seen.Add(now, grain);
  ++state.counts.requests;
  state.counts.peak_per_minute =
      std::max(state.counts.peak_per_minute, state.seen.sum);
  if (enforced_ && rate > 0 && state.admitted.sum >= rate) {
    ++state.counts.refused;
    return state.admitted.bursts.front().time + minute_ - now;
  }
  state.admitted.Add(now, grain);
  return std::nullopt;
}

RateLimits::Counts RateLimits::Read(Endpoint limit_class) const {
  MutexLock lock(mutex_);
  return classes_[static_cast<size_t>(limit_class)].counts;
}

void RateLimits::SetEnforced(bool enforced) {
  MutexLock lock(mutex_);
  enforced_ = enforced;
}

}  // namespace bimbackup::bim360_emulator
