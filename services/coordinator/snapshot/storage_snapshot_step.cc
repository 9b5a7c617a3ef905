#include "services/coordinator/snapshot/storage_snapshot_step.h"

#include <string>
#include <utility>
#include <vector>

#include "clients/storage/format/snapshot_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

using storage::format::Snapshot;

StorageSnapshotStep::StorageSnapshotStep(
    catalog::TreeStore& tree, catalog::DamageStore& damage,
    storage::Storage& storage, const Clock& clock, std::string account_id,
    const storage::format::NameOptions& names, catalog::SweepGates& gates)
    : storage_(storage),
      gates_(gates),
      committer_(tree, storage, clock, std::move(account_id), names),
      latest_(tree, storage),
      mender_(damage, storage) {}

absl::Status StorageSnapshotStep::WriteSnapshot(
    const catalog::BackupRecord& backup, catalog::BackupState end_state) {
  // Never into what lies beneath a share that is not mounted.
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  const catalog::SweepGate::Pass pass(gates_.snapshots,
                                      catalog::SweepGate::Party::kWork);
  const absl::Status status = committer_.Commit(backup, end_state).status();
  // Also where it failed: the file may stand all the same.
  ++gates_.snapshots_written;
  return status;
}

void StorageSnapshotStep::EnterForBackup() {
  MutexLock lock(view_mutex_);
  backup_waits_ = true;
  while (view_taken_) view_left_.Wait(view_mutex_);
  backup_waits_ = false;
  view_taken_ = true;
}

bool StorageSnapshotStep::TryEnter() {
  MutexLock lock(view_mutex_);
  if (view_taken_ || backup_waits_) return false;
  view_taken_ = true;
  return true;
}

void StorageSnapshotStep::Leave() {
  {
    MutexLock lock(view_mutex_);
    view_taken_ = false;
  }
  view_left_.NotifyAll();
}

bool StorageSnapshotStep::BackupWaits() {
  MutexLock lock(view_mutex_);
  return backup_waits_;
}

absl::Status StorageSnapshotStep::UpdateLatest(
    const catalog::BackupRecord& backup) {
  EnterForBackup();
  const absl::Status status = UpdateView(backup);
  Leave();
  return status;
}

absl::Status StorageSnapshotStep::RebuildLatest(
    const std::function<absl::Status(const Snapshot&)>& begun,
    const LatestUpdater::Progress& progress) {
  if (!TryEnter()) {
    return absl::AbortedError(
        "the latest view is being brought up to date just now");
  }
  const absl::Status status = RebuildView(begun, progress);
  Leave();
  return status;
}

absl::Status StorageSnapshotStep::RebuildView(
    const std::function<absl::Status(const Snapshot&)>& begun,
    const LatestUpdater::Progress& progress) {
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  if (ids.empty()) return absl::FailedPreconditionError("there is no snapshot");
  ABSL_ASSIGN_OR_RETURN(const Snapshot snapshot,
                        storage::format::ReadSnapshot(storage_, ids.back()));
  ABSL_RETURN_IF_ERROR(begun(snapshot));
  const absl::Status status =
      latest_.Rebuild(snapshot, [&](int64_t entries) -> absl::Status {
        if (BackupWaits()) {
          return absl::AbortedError(
              "a backup commits now, and brings the latest view up to date");
        }
        return progress(entries);
      });
  if (!absl::IsUnimplemented(status)) return status;
  return absl::FailedPreconditionError(status.message());
}

absl::Status StorageSnapshotStep::UpdateView(
    const catalog::BackupRecord& backup) {
  ABSL_ASSIGN_OR_RETURN(const storage::format::Snapshot snapshot,
                        storage::format::ReadSnapshot(storage_, backup.id));
  absl::Status status = latest_.Update(snapshot);
  // Also where some blobs are missing: others may have come back.
  if (status.ok() || absl::IsInternal(status)) {
    status.Update(mender_.Mend(snapshot));
  }
  return status;
}

}  // namespace bimbackup::snapshot
