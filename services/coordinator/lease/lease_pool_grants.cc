// What goes out: transfers to be signed, leases to workers.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/lease/batch.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::lease {
namespace {

// Transfers in memory that wait to be signed, at most; the rest wait in the
// catalog.
constexpr int kMaxWaiting = 1024;
// Signed transfers kept ready, at least.
constexpr int kMinReady = 64;
// How long the catalog is left alone after it failed.
constexpr absl::Duration kCatalogRetry = absl::Seconds(2);

}  // namespace

void LeasePool::Refill() {
  const absl::Duration now = clock_.Monotonic();
  if (!backup_.has_value() || now < catalog_retry_) return;
  {
    MutexLock lock(mutex_);
    if (!more_pending_) return;
  }
  if (table_.waiting() + table_.delayed() > kMaxWaiting / 2) return;
  if (absl::Status status = LoadPending(); !status.ok()) {
    spdlog::error("pending transfers could not be read: {}", status);
    catalog_retry_ = now + kCatalogRetry;
    MutexLock lock(mutex_);
    more_pending_ = true;
  }
}

absl::Status LeasePool::LoadPending() {
  {
    // Before the query: what is pushed during it is announced again.
    MutexLock lock(mutex_);
    more_pending_ = false;
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::TransferRecord> list,
                        store_.ListPending(*backup_, cursor_, kMaxWaiting));
  if (list.size() == kMaxWaiting) {
    MutexLock lock(mutex_);
    more_pending_ = true;
  }
  for (const catalog::TransferRecord& transfer : list) {
    ABSL_ASSIGN_OR_RETURN(const Tally tally, LoadTally(transfer));
    cursor_ = std::max(cursor_, transfer.transfer_id);
    table_.Add(transfer, tally);
  }
  return absl::OkStatus();
}

// Attempts of this backup that an earlier process saw count, too.
absl::StatusOr<Tally> LeasePool::LoadTally(
    const catalog::TransferRecord& transfer) {
  Tally tally;
  if (transfer.attempts == 0) return tally;
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::AttemptRecord> attempts,
                        store_.ListAttempts(transfer.transfer_id));
  for (const catalog::AttemptRecord& attempt : attempts) {
    if (attempt.end_time >= create_time_ && !attempt.late) {
      tally.Count(static_cast<Outcome>(attempt.outcome));
    }
  }
  return tally;
}

absl::Status LeasePool::RestoreLeases(absl::Duration expires) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::LeaseRecord> leases,
                        store_.ListLeases(*backup_));
  for (const catalog::LeaseRecord& lease : leases) {
    if (table_.Find(lease.transfer_id) != nullptr) continue;
    ABSL_ASSIGN_OR_RETURN(catalog::TransferRecord transfer,
                          store_.GetTransfer(lease.transfer_id));
    ABSL_ASSIGN_OR_RETURN(const Tally tally, LoadTally(transfer));
    table_.AddRestored(std::move(transfer), tally, lease.worker_id, lease.epoch,
                       expires);
  }
  return absl::OkStatus();
}

// Once nothing is left in memory after the listing, the catalog has the last
// word: what it still holds open is taken up again from its start.
void LeasePool::LookForStragglers() {
  const absl::Duration now = clock_.Monotonic();
  if (!backup_.has_value() || drained_ || table_.size() > 0 ||
      now < catalog_retry_) {
    return;
  }
  {
    MutexLock lock(mutex_);
    if (!listing_done_ || more_pending_) return;
  }
  const absl::StatusOr<int64_t> open = store_.CountOpen(*backup_);
  if (open.ok() && *open == 0) {
    drained_ = true;
    return;
  }
  absl::Status status = open.status();
  if (status.ok()) {
    spdlog::debug("{} transfers are taken up again", *open);
    cursor_ = 0;
    status = RestoreLeases(now);
  }
  if (status.ok()) status = LoadPending();
  if (!status.ok()) spdlog::error("open transfers: {}", status);
  // Also where nothing was found, so that this never spins.
  catalog_retry_ = now + kCatalogRetry;
  if (table_.size() > 0) Wake();
}

void LeasePool::SubmitSigning() {
  if (!backup_.has_value() || !gate_.open() || !credential_problem_.empty()) {
    return;
  }
  const int wanted =
      std::max(kMinReady, 2 * workers_.FreeSlots(clock_.Monotonic()));
  std::vector<SigningJob> jobs;
  while (table_.signing() < signer_->max_jobs() &&
         table_.ready() + table_.signing() < wanted) {
    const std::optional<int64_t> id = table_.TakeToSign();
    if (!id.has_value()) break;
    jobs.push_back({*id, table_.Find(*id)->transfer.storage_urn});
  }
  signer_->Submit(std::move(jobs));
}

void LeasePool::Grant() {
  if (!backup_.has_value() || !gate_.open() || table_.ready() == 0) return;
  std::vector<catalog::LeaseRecord> leases;
  for (Call& call : calls_) {
    if (!call.due) GrantTo(call, leases);
  }
  if (leases.empty()) return;
  const absl::Status status = store_.RecordLeases(leases);
  NoteCatalog(status);
  if (!status.ok()) {
    spdlog::error("leases could not be recorded: {}", status);
    for (const catalog::LeaseRecord& lease : leases) {
      table_.Delay(lease.transfer_id, clock_.Monotonic() + kCatalogRetry,
                   /*sign_again=*/false);
      table_.Find(lease.transfer_id)->epoch = 0;
    }
    for (Call& call : calls_) call.answer.granted.clear();
    return;
  }
  MaybeCrash("coordinator.granted");
}

void LeasePool::GrantTo(Call& call, std::vector<catalog::LeaseRecord>& leases) {
  const WorkerReport& report = call.report;
  if (report.draining || !report.storage_problem.empty() ||
      workers_.IsDraining(report.worker_id)) {
    return;
  }
  const absl::Duration now = clock_.Monotonic();
  int64_t remaining = table_.size() - table_.leased();
  {
    MutexLock lock(mutex_);
    if (more_pending_) remaining += kMaxWaiting;
  }
  const int files =
      BatchFiles(remaining, workers_.CountActive(now), report.free_slots);
  if (files == 0) return;
  for (const int64_t id : table_.PickBatch(files, now)) {
    const int64_t epoch = ++next_epoch_;
    table_.Lease(id, report.worker_id, epoch, NextSequence(), now);
    leases.push_back({id, epoch, report.worker_id});
    const LeaseTable::Entry& entry = *table_.Find(id);
    call.answer.granted.push_back({entry.transfer, *entry.download, epoch});
  }
  workers_.TakeSlots(report.worker_id,
                     static_cast<int>(call.answer.granted.size()));
}

}  // namespace bimbackup::lease
