// Times as the catalog stores them.

#ifndef SERVICES_COORDINATOR_CATALOG_STORED_TIME_H_
#define SERVICES_COORDINATOR_CATALOG_STORED_TIME_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace bimbackup::catalog {

// Microseconds since 1970, UTC; nothing for an unknown time, which is the
// infinite past.
inline std::optional<int64_t> ToStoredTime(absl::Time time) {
  if (time == absl::InfinitePast()) return std::nullopt;
  return absl::ToUnixMicros(time);
}

inline absl::Time FromStoredTime(std::optional<int64_t> micros) {
  return micros.has_value() ? absl::FromUnixMicros(*micros)
                            : absl::InfinitePast();
}

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_STORED_TIME_H_
