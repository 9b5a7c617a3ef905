// What workers and the lease pool tell each other, free of the wire.

#ifndef SERVICES_COORDINATOR_LEASE_TYPES_H_
#define SERVICES_COORDINATOR_LEASE_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/lease/pause.h"

namespace bimbackup::lease {

// The numbers of TransferOutcome in transfer.proto. In an attempt's record,
// kUnspecified stands for a worker that was lost.
enum class Outcome {
  kUnspecified = 0,
  kStored = 1,
  kRetryable = 2,
  kRefused = 3,
  kNotFound = 4,
  kCorrupt = 5,
  kInvalid = 6,
  kStorageFailed = 7,
  kReleased = 8,
  kStorageClosed = 9,
};

// A transfer that a worker says it holds.
struct HeldLease {
  int64_t transfer_id = 0;
  int64_t epoch = 0;
  int64_t bytes_done = 0;
};

// How one attempt ended, as the worker tells it.
struct TransferResult {
  int64_t transfer_id = 0;
  int64_t epoch = 0;
  Outcome outcome = Outcome::kUnspecified;
  // With kStored.
  std::string sha256;
  int64_t size = 0;
  std::string message;
  int http_status = 0;
  int64_t bytes_received = 0;
};

// A worker's state; see SynchronizeRequest in worker_pool_service.proto.
struct WorkerReport {
  std::string worker_id;
  std::string display_name;
  std::string version;
  std::vector<HeldLease> held;
  std::vector<TransferResult> results;
  int free_slots = 0;
  bool draining = false;
  bool may_hold = false;
  int64_t bytes_received = 0;
  std::string storage_problem;
};

// A new lease. Its download holds signed URLs: for the worker only.
struct GrantedLease {
  catalog::TransferRecord transfer;
  bim360::SignedDownload download;
  int64_t epoch = 0;
};

// Whether the listing told a size which signing, with one open range, did not:
// it is then what a download must amount to.
bool OnlyListingHasSize(const bim360::SignedDownload& download,
                        const catalog::TransferRecord& transfer);

// What a worker is to do; see SynchronizeResponse.
struct SynchronizeAnswer {
  std::vector<GrantedLease> granted;
  std::vector<int64_t> revoked;
  std::vector<int64_t> acknowledged;
  bool drain = false;
  bool backup_running = false;
  // What a lease is good for without being renewed.
  absl::Duration lease_life = absl::Seconds(60);
  // Body bytes a second; 0 for no cap.
  int64_t max_bandwidth = 0;
};

// A worker as the pool knows it.
struct WorkerInfo {
  std::string worker_id;
  std::string display_name;
  std::string version;
  absl::Time last_seen;
  int leases = 0;
  int free_slots = 0;
  bool draining = false;
  std::string storage_problem;
  int64_t stored_count = 0;
  int64_t bytes_received = 0;
};

// What the pool is doing now.
struct PoolStats {
  // Transfers whose URLs are signed and that wait for a worker.
  int ready = 0;
  // Transfers that are being signed.
  int signing = 0;
  int leased = 0;
  // Transfers that wait to be signed, as far as they are in memory.
  int waiting = 0;
  // Workers heard of within the life of a lease.
  int workers = 0;
  // Transfers that those could take now.
  int free_slots = 0;
  // Body bytes of all leases that ended or run, since the backup began.
  int64_t bytes_moved = 0;
  // Why nothing is granted: the storage, for everybody or for all workers, or
  // the catalog.
  Pause pause;
  // Autodesk refuses the credentials: no transfer can be signed. Else empty.
  std::string credential_problem;
  // Transfers that one call can sign: more than 1 once Autodesk has allowed
  // batches.
  int signed_by_a_call = 1;
  // All is listed, and no transfer is open any more.
  bool drained = false;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_TYPES_H_
