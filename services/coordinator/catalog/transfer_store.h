// The catalog's transfers: what is still to be stored, and what came of it.

#ifndef SERVICES_COORDINATOR_CATALOG_TRANSFER_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_TRANSFER_STORE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// A lease as the catalog remembers it through a restart.
struct LeaseRecord {
  int64_t transfer_id = 0;
  int64_t epoch = 0;
  std::string worker_id;
};

// What becomes of a transfer after an attempt.
struct TransferUpdate {
  int64_t transfer_id = 0;
  // kStored, kFailed, or kPending (another attempt).
  TransferState state = TransferState::kPending;
  // With kStored.
  std::string sha256;
  int64_t size = 0;
  // With kFailed.
  std::string reason;
  // Recorded where there was an attempt; the newest 16 are kept.
  std::optional<AttemptRecord> attempt;
  // Nothing but the attempt: the transfer stays as it is.
  bool attempt_only = false;
};

// Thread-safe. Errors as BackupStore's.
class TransferStore {
 public:
  virtual ~TransferStore() = default;

  // Hands out up to `limit` pending transfers of the backup, in the order in
  // which the crawl found them, with ids above `after`.
  virtual absl::StatusOr<std::vector<TransferRecord>> ListPending(
      BackupNumber backup, int64_t after, int limit) = 0;

  // A transfer; NOT_FOUND.
  virtual absl::StatusOr<TransferRecord> GetTransfer(int64_t transfer_id) = 0;

  // Marks transfers as leased. In one transaction.
  virtual absl::Status RecordLeases(const std::vector<LeaseRecord>& leases) = 0;

  // Leases of transfers that are neither stored nor failed: what a restarted
  // coordinator expects to hear of.
  virtual absl::StatusOr<std::vector<LeaseRecord>> ListLeases(
      BackupNumber backup) = 0;

  // Applies results in one transaction: a stored object makes every entry
  // with its URN stored and its projects changed. Where its blob was damaged
  // and other bytes came than it had, they are stored, too, but the transfer
  // has failed. A transfer that is stored
  // already stays so. What is stored after its backup has begun to commit, or
  // has ended, is adopted: the backup's account of it stays as it was, the
  // next one finds the object stored. Idempotent.
  virtual absl::Status ApplyUpdates(
      BackupNumber backup, const std::vector<TransferUpdate>& updates) = 0;

  // Transfers of the backup that are neither stored nor failed.
  virtual absl::StatusOr<int64_t> CountOpen(BackupNumber backup) = 0;

  // Fails every open transfer of the backup, as cancellation and
  // max_duration do; their versions stay wanted by the next backup. In
  // transactions of bounded size: repeat it after an error.
  virtual absl::Status FailOpen(BackupNumber backup,
                                absl::string_view reason) = 0;

  // Transfers with ids above `after`, in their order; only failed ones where
  // asked.
  virtual absl::StatusOr<std::vector<TransferRecord>> ListTransfers(
      BackupNumber backup, bool failed_only, int64_t after, int limit) = 0;

  // A transfer's newest attempts, oldest first.
  virtual absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(
      int64_t transfer_id) = 0;

  // A number greater than any returned before, also by an earlier process:
  // lease epochs start from it.
  virtual absl::StatusOr<int64_t> NextEpochBase() = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TRANSFER_STORE_H_
