#include "services/common/backoff.h"

#include <algorithm>

namespace bimbackup {

absl::Duration Backoff::Delay(int attempt, Random& random) const {
  absl::Duration ceiling = initial;
  for (int i = 1; i < attempt && ceiling < maximum; ++i) ceiling *= 2;
  return random.NextDouble() * std::min(ceiling, maximum);
}

}  // namespace bimbackup
