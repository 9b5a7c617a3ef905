#include "services/download_worker/engine/pace.h"

#include <algorithm>

namespace bimbackup::engine {
namespace {

// What a request's transport may hold back at once.
constexpr double kBufferBytes = 256 << 10;

}  // namespace

Pace::Pace(const EngineOptions& options)
    : slots_(std::max(options.slots, options.max_slots)),
      slowest_(options.slowest_bytes_per_second),
      watchdog_grace_(options.watchdog_grace),
      cap_(options.max_bandwidth) {}

int64_t Pace::slowest() const {
  const int64_t cap = cap_;
  return cap == 0 ? slowest_
                  : std::clamp<int64_t>(cap / slots_ / 2, 1, slowest_);
}

absl::Duration Pace::watchdog_grace() const {
  const int64_t cap = cap_;
  if (cap == 0) return watchdog_grace_;
  return watchdog_grace_ +
         absl::Seconds(2.0 * slots_ * kBufferBytes / static_cast<double>(cap));
}

}  // namespace bimbackup::engine
