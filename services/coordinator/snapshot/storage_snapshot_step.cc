#include "services/coordinator/snapshot/storage_snapshot_step.h"

#include <utility>

#include "clients/storage/format/snapshot_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

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

absl::Status StorageSnapshotStep::UpdateLatest(
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
