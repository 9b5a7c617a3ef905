#include "services/coordinator/lease/fake_transfer_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {

using catalog::TransferState;

int64_t FakeTransferStore::Add(std::optional<int64_t> size) {
  MutexLock lock(mutex_);
  const int64_t id = static_cast<int64_t>(transfers_.size()) + 1;
  catalog::TransferRecord& record = transfers_[id].record;
  record.transfer_id = id;
  record.storage_urn = absl::StrCat("urn:", id);
  record.size = size;
  record.path = {absl::StrCat("file-", id)};
  return id;
}

void FakeTransferStore::FailChanges(absl::Status status) {
  MutexLock lock(mutex_);
  failure_ = std::move(status);
}

void FakeTransferStore::SetBeforeListing(std::function<void()> hook) {
  MutexLock lock(mutex_);
  before_listing_ = std::move(hook);
}

TransferState FakeTransferStore::StateOf(int64_t id) const {
  MutexLock lock(mutex_);
  return transfers_.at(id).record.state;
}

std::string FakeTransferStore::ReasonOf(int64_t id) const {
  MutexLock lock(mutex_);
  return transfers_.at(id).record.reason;
}

int FakeTransferStore::StoredTimes(int64_t id) const {
  MutexLock lock(mutex_);
  return transfers_.at(id).stored_times;
}

int FakeTransferStore::RecordedLeases() const {
  MutexLock lock(mutex_);
  return recorded_;
}

absl::StatusOr<std::vector<catalog::TransferRecord>>
FakeTransferStore::ListPending(catalog::BackupNumber, int64_t after,
                               int limit) {
  std::function<void()> hook;
  {
    MutexLock lock(mutex_);
    hook = before_listing_;
  }
  if (hook) hook();
  MutexLock lock(mutex_);
  std::vector<catalog::TransferRecord> list;
  for (auto it = transfers_.upper_bound(after);
       it != transfers_.end() && static_cast<int>(list.size()) < limit; ++it) {
    if (it->second.record.state == TransferState::kPending) {
      list.push_back(it->second.record);
    }
  }
  return list;
}

absl::StatusOr<catalog::TransferRecord> FakeTransferStore::GetTransfer(
    int64_t transfer_id) {
  MutexLock lock(mutex_);
  const auto it = transfers_.find(transfer_id);
  if (it == transfers_.end()) return absl::NotFoundError("no such transfer");
  return it->second.record;
}

absl::Status FakeTransferStore::RecordLeases(
    const std::vector<catalog::LeaseRecord>& leases) {
  MutexLock lock(mutex_);
  ABSL_RETURN_IF_ERROR(failure_);
  for (const catalog::LeaseRecord& lease : leases) {
    Transfer& transfer = transfers_.at(lease.transfer_id);
    if (!IsOpen(transfer)) return absl::InternalError("leased after its end");
    transfer.record.state = TransferState::kLeased;
    transfer.lease = lease;
    ++recorded_;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<catalog::LeaseRecord>> FakeTransferStore::ListLeases(
    catalog::BackupNumber) {
  MutexLock lock(mutex_);
  std::vector<catalog::LeaseRecord> leases;
  for (const auto& [id, transfer] : transfers_) {
    if (transfer.record.state == TransferState::kLeased) {
      leases.push_back(transfer.lease);
    }
  }
  return leases;
}

absl::Status FakeTransferStore::ApplyUpdates(
    catalog::BackupNumber,
    const std::vector<catalog::TransferUpdate>& updates) {
  MutexLock lock(mutex_);
  ABSL_RETURN_IF_ERROR(failure_);
  for (const catalog::TransferUpdate& update : updates) {
    ABSL_RETURN_IF_ERROR(ApplyUpdate(update));
  }
  return absl::OkStatus();
}

absl::Status FakeTransferStore::ApplyUpdate(
    const catalog::TransferUpdate& update) {
  Transfer& transfer = transfers_.at(update.transfer_id);
  if (update.attempt.has_value()) {
    transfer.attempts.push_back(*update.attempt);
    ++transfer.record.attempts;
  }
  if (transfer.record.state == TransferState::kStored) return absl::OkStatus();
  if (update.attempt_only) return absl::OkStatus();
  transfer.record.state = update.state;
  transfer.record.reason = update.reason;
  if (update.state == TransferState::kStored) {
    transfer.sha256 = update.sha256;
    ++transfer.stored_times;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FakeTransferStore::CountOpen(catalog::BackupNumber) {
  MutexLock lock(mutex_);
  int64_t open = 0;
  for (const auto& [id, transfer] : transfers_) open += IsOpen(transfer);
  return open;
}

absl::Status FakeTransferStore::FailOpen(catalog::BackupNumber,
                                         absl::string_view reason) {
  MutexLock lock(mutex_);
  for (auto& [id, transfer] : transfers_) {
    if (!IsOpen(transfer)) continue;
    transfer.record.state = TransferState::kFailed;
    transfer.record.reason = std::string(reason.data(), reason.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<catalog::TransferRecord>>
FakeTransferStore::ListTransfers(catalog::BackupNumber, bool failed_only,
                                 int64_t after, int limit) {
  MutexLock lock(mutex_);
  std::vector<catalog::TransferRecord> list;
  for (const auto& [id, transfer] : transfers_) {
    if (id <= after || static_cast<int>(list.size()) == limit) continue;
    if (!failed_only || transfer.record.state == TransferState::kFailed) {
      list.push_back(transfer.record);
    }
  }
  return list;
}

absl::StatusOr<std::vector<catalog::AttemptRecord>>
FakeTransferStore::ListAttempts(int64_t transfer_id) {
  MutexLock lock(mutex_);
  return transfers_.at(transfer_id).attempts;
}

absl::StatusOr<int64_t> FakeTransferStore::NextEpochBase() {
  MutexLock lock(mutex_);
  epochs_ += 1'000'000;
  return epochs_;
}

}  // namespace bimbackup::lease
