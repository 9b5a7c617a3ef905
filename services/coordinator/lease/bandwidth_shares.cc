#include "services/coordinator/lease/bandwidth_shares.h"

#include <algorithm>

namespace bimbackup::lease {

void BandwidthShares::SetWorker(absl::string_view worker_id,
                                int64_t bytes_per_second) {
  const std::string key(worker_id.data(), worker_id.size());
  if (bytes_per_second == 0) {
    workers_.erase(key);
  } else {
    workers_[key] = bytes_per_second;
  }
}

int64_t BandwidthShares::Of(absl::string_view worker_id, int active) const {
  // Never 0, which would be no cap at all.
  const int64_t share =
      fleet_ == 0 ? 0 : std::max<int64_t>(1, fleet_ / std::max(1, active));
  const auto own =
      workers_.find(std::string(worker_id.data(), worker_id.size()));
  if (own == workers_.end()) return share;
  return share == 0 ? own->second : std::min(share, own->second);
}

}  // namespace bimbackup::lease
