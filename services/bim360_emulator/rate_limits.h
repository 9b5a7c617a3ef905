// Counts requests by endpoint and refuses those above the published rates.

#ifndef SERVICES_BIM360_EMULATOR_RATE_LIMITS_H_
#define SERVICES_BIM360_EMULATOR_RATE_LIMITS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "services/bim360_emulator/endpoint.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360_emulator {

// A minute here lasts 60 s / time_scale, and slides. Thread-safe.
class RateLimits {
 public:
  // `clock` outlives the limits. Without `enforced`, only counts.
  RateLimits(bool enforced, double time_scale, const Clock& clock);

  // Counts a request; returns how long to wait when it is one too many,
  // which then fills no place in the minute.
  std::optional<absl::Duration> Admit(Endpoint endpoint);

  struct Counts {
    int64_t requests = 0;
    int64_t refused = 0;
    // The most requests, refused ones included, in any sliding minute.
    int64_t peak_per_minute = 0;
  };
  Counts Read(Endpoint limit_class) const;

  void SetEnforced(bool enforced);

 private:
  // Requests that came in the same millisecond of the scaled minute.
  struct Burst {
    absl::Duration time;
    int64_t count = 0;
  };
  struct Window {
    std::deque<Burst> bursts;
    int64_t sum = 0;

    void Add(absl::Duration now, absl::Duration grain);
    void Expire(absl::Duration before);
  };
  struct Class {
    Counts counts;
    Window seen;
    Window admitted;
  };

  const absl::Duration minute_;
  const Clock& clock_;
  mutable Mutex mutex_;
  bool enforced_ ABSL_GUARDED_BY(mutex_);
  std::array<Class, static_cast<size_t>(Endpoint::kCount)> classes_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_RATE_LIMITS_H_
