#include "services/coordinator/lease/bandwidth_shares.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace bimbackup::lease {
namespace {

constexpr int64_t kUncapped = std::numeric_limits<int64_t>::max();

}  // namespace

void BandwidthShares::SetWorker(absl::string_view worker_id,
                                int64_t bytes_per_second) {
  const std::string key(worker_id.data(), worker_id.size());
  if (bytes_per_second == 0) {
    workers_.erase(key);
  } else {
    workers_[key] = bytes_per_second;
  }
}

void BandwidthShares::KeepOnly(const std::set<std::string>& worker_ids) {
  std::erase_if(workers_, [&worker_ids](const auto& entry) {
    return !worker_ids.contains(entry.first);
  });
}

std::map<std::string, int64_t> BandwidthShares::Divide(
    const std::set<std::string>& worker_ids) const {
  std::map<std::string, int64_t> shares;
  for (const std::string& id : worker_ids) shares[id] = OwnOf(id);
  if (fleet_ == 0) return shares;
  // The lowest caps first, so that what they leave is known to the rest.
  std::vector<std::pair<int64_t, std::string>> by_cap;
  for (const auto& [id, own] : shares) {
    by_cap.emplace_back(own == 0 ? kUncapped : own, id);
  }
  std::sort(by_cap.begin(), by_cap.end());
  int64_t left = fleet_;
  auto sharing = static_cast<int64_t>(by_cap.size());
  for (const auto& [cap, id] : by_cap) {
    // Never 0, which would be no cap at all.
    const int64_t share = std::min(cap, std::max<int64_t>(1, left / sharing));
    shares[id] = share;
    left -= std::min(left, share);
    --sharing;
  }
  return shares;
}

int64_t BandwidthShares::OfJoining(const std::string& worker_id,
                                   std::set<std::string> worker_ids) const {
  worker_ids.insert(worker_id);
  return Divide(worker_ids).at(worker_id);
}

int64_t BandwidthShares::OwnOf(const std::string& worker_id) const {
  const auto own = workers_.find(worker_id);
  return own == workers_.end() ? 0 : own->second;
}

}  // namespace bimbackup::lease
