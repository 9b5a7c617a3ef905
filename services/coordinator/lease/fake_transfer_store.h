// A catalog's transfers in memory, for the tests of the lease pool.

#ifndef SERVICES_COORDINATOR_LEASE_FAKE_TRANSFER_STORE_H_
#define SERVICES_COORDINATOR_LEASE_FAKE_TRANSFER_STORE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/mutex.h"
#include "services/coordinator/catalog/transfer_store.h"

namespace bimbackup::lease {

// Behaves as the catalog does, for one backup. Refuses what would be an
// error of the pool's: an unknown transfer, a stored one that is stored again
// with other bytes. Thread-safe.
class FakeTransferStore : public catalog::TransferStore {
 public:
  // Adds a pending transfer "urn:<id>" and returns its id.
  int64_t Add(std::optional<int64_t> size);

  // Every change fails with this until it is OK again.
  void FailChanges(absl::Status status);

  // Called, outside of every lock, when pending transfers are asked for.
  void SetBeforeListing(std::function<void()> hook);

  catalog::TransferState StateOf(int64_t id) const;
  std::string ReasonOf(int64_t id) const;
  // How often the transfer was made stored.
  int StoredTimes(int64_t id) const;
  int RecordedLeases() const;

  absl::StatusOr<std::vector<catalog::TransferRecord>> ListPending(
      catalog::BackupNumber backup, int64_t after, int limit) override;
  absl::StatusOr<catalog::TransferRecord> GetTransfer(
      int64_t transfer_id) override;
  absl::Status RecordLeases(
      const std::vector<catalog::LeaseRecord>& leases) override;
  absl::StatusOr<std::vector<catalog::LeaseRecord>> ListLeases(
      catalog::BackupNumber backup) override;
  absl::Status ApplyUpdates(
      catalog::BackupNumber backup,
      const std::vector<catalog::TransferUpdate>& updates) override;
  absl::StatusOr<int64_t> CountOpen(catalog::BackupNumber backup) override;
  absl::Status FailOpen(catalog::BackupNumber backup,
                        absl::string_view reason) override;
  absl::StatusOr<std::vector<catalog::TransferRecord>> ListTransfers(
      catalog::BackupNumber backup, bool failed_only, int64_t after,
      int limit) override;
  absl::StatusOr<std::vector<catalog::AttemptRecord>> ListAttempts(
      int64_t transfer_id) override;
  absl::StatusOr<int64_t> NextEpochBase() override;

 private:
  struct Transfer {
    catalog::TransferRecord record;
    std::string sha256;
    int stored_times = 0;
    catalog::LeaseRecord lease;
    std::vector<catalog::AttemptRecord> attempts;
  };

  static bool IsOpen(const Transfer& transfer) {
    return transfer.record.state == catalog::TransferState::kPending ||
           transfer.record.state == catalog::TransferState::kLeased;
  }
  absl::Status ApplyUpdate(const catalog::TransferUpdate& update)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<int64_t, Transfer> transfers_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> before_listing_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int recorded_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t epochs_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_FAKE_TRANSFER_STORE_H_
