#include "services/download_worker/lease/lease_book.h"

#include <limits>
#include <set>

namespace bimbackup::worker_lease {
namespace {

// An answer that neither acknowledges nor revokes a result is a
// coordinator's bug; it must not be told for ever.
constexpr int kMaxUnanswered = 5;

}  // namespace

bool LeaseBook::Add(const LeaseKey& key) {
  return leases_.try_emplace(key).second;
}

void LeaseBook::SetHandle(const LeaseKey& key, uint64_t handle) {
  const auto it = leases_.find(key);
  if (it != leases_.end()) it->second.handle = handle;
}

void LeaseBook::Finish(const LeaseKey& key,
                       const engine::TransferReport& report,
                       absl::Duration now) {
  const auto it = leases_.find(key);
  if (it == leases_.end() || it->second.report.has_value()) return;
  it->second.report = report;
  it->second.finished_at = now;
  it->second.order = ++last_order_;
  finish_order_[it->second.order] = key;
}

std::map<LeaseKey, LeaseBook::Lease>::iterator LeaseBook::Erase(
    std::map<LeaseKey, Lease>::iterator it) {
  if (it->second.report.has_value()) finish_order_.erase(it->second.order);
  return leases_.erase(it);
}

std::optional<uint64_t> LeaseBook::Lose(const LeaseKey& key) {
  const auto it = leases_.find(key);
  if (it == leases_.end()) return std::nullopt;
  std::optional<uint64_t> handle;
  if (!it->second.report.has_value()) handle = it->second.handle;
  Erase(it);
  return handle;
}

std::vector<uint64_t> LeaseBook::LoseTransfer(int64_t transfer_id) {
  std::vector<uint64_t> handles;
  for (;;) {
    const auto it =
        leases_.lower_bound({transfer_id, std::numeric_limits<int64_t>::min()});
    if (it == leases_.end() || it->first.transfer_id != transfer_id) break;
    if (const auto handle = Lose(it->first)) handles.push_back(*handle);
  }
  return handles;
}

void LeaseBook::Acknowledge(int64_t transfer_id) {
  auto it =
      leases_.lower_bound({transfer_id, std::numeric_limits<int64_t>::min()});
  while (it != leases_.end() && it->first.transfer_id == transfer_id) {
    // One that is not finished was granted again since.
    it = it->second.report.has_value() ? Erase(it) : std::next(it);
  }
}

std::vector<FinishedLease> LeaseBook::NextResults() const {
  std::vector<FinishedLease> results;
  for (const auto& [order, key] : finish_order_) {
    if (results.size() == kResultsPerCall) break;
    results.push_back({key, *leases_.at(key).report});
  }
  return results;
}

std::vector<LeaseKey> LeaseBook::HeldBeside(
    const std::vector<FinishedLease>& results) const {
  std::set<LeaseKey> told;
  for (const FinishedLease& result : results) told.insert(result.key);
  std::vector<LeaseKey> held;
  for (const auto& [key, lease] : leases_) {
    if (told.count(key) == 0) held.push_back(key);
  }
  return held;
}

int LeaseBook::CountUnanswered(const std::vector<FinishedLease>& results) {
  int dropped = 0;
  for (const FinishedLease& result : results) {
    const auto it = leases_.find(result.key);
    if (it == leases_.end()) continue;
    if (++it->second.unanswered < kMaxUnanswered) continue;
    Erase(it);
    ++dropped;
  }
  return dropped;
}

std::optional<absl::Duration> LeaseBook::first_result_at() const {
  if (finish_order_.empty()) return std::nullopt;
  return leases_.at(finish_order_.begin()->second).finished_at;
}

}  // namespace bimbackup::worker_lease
