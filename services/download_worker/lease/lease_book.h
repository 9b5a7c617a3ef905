// Which leases the worker holds, and which of them have ended.

#ifndef SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_BOOK_H_
#define SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_BOOK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "services/download_worker/lease/worker_pool.h"

namespace bimbackup::worker_lease {

// A lease is held until its result has been acknowledged or it is lost. Not
// thread-safe.
class LeaseBook {
 public:
  // Results that one call carries at most.
  static constexpr size_t kResultsPerCall = 32;

  // Takes a grant; false when it is held already.
  bool Add(const LeaseKey& key);
  // Tells under which handle the engine runs it.
  void SetHandle(const LeaseKey& key, uint64_t handle);

  // The transfer has ended at `now`. Ignored for a lease that was lost.
  void Finish(const LeaseKey& key, const engine::TransferReport& report,
              absl::Duration now);

  // Forgets a lease, whose result is not wanted. Returns the engine's handle
  // where the transfer has not ended.
  std::optional<uint64_t> Lose(const LeaseKey& key);
  // The same for every lease of a transfer.
  std::vector<uint64_t> LoseTransfer(int64_t transfer_id);

  // The coordinator has counted this result.
  void Acknowledge(int64_t transfer_id);

  // The results that the next call carries, oldest first.
  std::vector<FinishedLease> NextResults() const;
  // Everything held, but for what `results` tells of.
  std::vector<LeaseKey> HeldBeside(
      const std::vector<FinishedLease>& results) const;

  // Counts that `results` went out and were answered without being
  // acknowledged; drops those to which that happened too often. Returns how
  // many were dropped.
  int CountUnanswered(const std::vector<FinishedLease>& results);

  int results() const { return static_cast<int>(finish_order_.size()); }
  // When the oldest result came in; nothing without results.
  std::optional<absl::Duration> first_result_at() const;
  // Leases in all, and those whose transfer has not ended.
  int held() const { return static_cast<int>(leases_.size()); }
  int unfinished() const { return held() - results(); }
  bool Holds(const LeaseKey& key) const { return leases_.count(key) > 0; }

 private:
  struct Lease {
    uint64_t handle = 0;
    std::optional<engine::TransferReport> report;
    absl::Duration finished_at;
    uint64_t order = 0;
    int unanswered = 0;
  };

  std::map<LeaseKey, Lease>::iterator Erase(
      std::map<LeaseKey, Lease>::iterator it);

  std::map<LeaseKey, Lease> leases_;
  // Finished ones, oldest first.
  std::map<uint64_t, LeaseKey> finish_order_;
  uint64_t last_order_ = 0;
};

}  // namespace bimbackup::worker_lease

#endif  // SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_BOOK_H_
