// The coordinator, as a worker sees it: what is told and what is answered.

#ifndef SERVICES_DOWNLOAD_WORKER_LEASE_WORKER_POOL_H_
#define SERVICES_DOWNLOAD_WORKER_LEASE_WORKER_POOL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::worker_lease {

// One transfer under one epoch.
struct LeaseKey {
  int64_t transfer_id = 0;
  int64_t epoch = 0;
  bool operator==(const LeaseKey&) const = default;
  bool operator<(const LeaseKey& other) const {
    return std::tie(transfer_id, epoch) <
           std::tie(other.transfer_id, other.epoch);
  }
};

struct HeldLease {
  LeaseKey key;
  // Bytes on disk.
  int64_t bytes_done = 0;
};

struct FinishedLease {
  LeaseKey key;
  engine::TransferReport report;
};

// What a worker tells; see SynchronizeRequest.
struct SyncRequest {
  std::vector<HeldLease> held;
  std::vector<FinishedLease> results;
  int free_slots = 0;
  bool draining = false;
  // Nothing to tell: the answer may be held.
  bool may_hold = false;
  int64_t bytes_received = 0;
  std::string storage_problem;
};

// What the coordinator answers; see SynchronizeResponse.
struct SyncResponse {
  std::vector<engine::TransferTask> granted;
  std::vector<int64_t> revoked;
  std::vector<int64_t> acknowledged;
  bool drain = false;
  // A lease not renewed for so long goes to others.
  absl::Duration lease_life = absl::Seconds(60);
  // Body bytes a second that may be received; 0 for no cap.
  int64_t max_bandwidth = 0;
};

// One connection to the coordinator. Thread-safe.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // Starts a call, one at a time; calls `done` once, on any thread, within
  // `timeout`. FAILED_PRECONDITION: the coordinator will have nothing to do
  // with this worker, for the reason in the message.
  virtual void Synchronize(
      const SyncRequest& request, absl::Duration timeout,
      std::function<void(absl::StatusOr<SyncResponse>)> done) = 0;

  // Ends the call under way with CANCELLED, soon. What it would have granted
  // may be lost: it is missing from the next call's held leases, from which
  // the coordinator sees that.
  virtual void Cancel() = 0;
};

}  // namespace bimbackup::worker_lease

#endif  // SERVICES_DOWNLOAD_WORKER_LEASE_WORKER_POOL_H_
