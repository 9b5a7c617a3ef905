#include "services/coordinator/snapshot/storage_snapshot_step.h"

#include <utility>

#include "clients/storage/format/snapshot_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

StorageSnapshotStep::StorageSnapshotStep(
    catalog::TreeStore& tree, storage::Storage& storage, const Clock& clock,
    std::string account_id, const storage::format::NameOptions& names)
    : storage_(storage),
      committer_(tree, storage, clock, std::move(account_id), names),
      latest_(tree, storage) {}

absl::Status StorageSnapshotStep::WriteSnapshot(
    const catalog::BackupRecord& backup, catalog::BackupState end_state) {
  // Never into what lies beneath a share that is not mounted.
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  return committer_.Commit(backup, end_state).status();
}

absl::Status StorageSnapshotStep::UpdateLatest(
    const catalog::BackupRecord& backup) {
  ABSL_ASSIGN_OR_RETURN(const storage::format::Snapshot snapshot,
                        storage::format::ReadSnapshot(storage_, backup.id));
  return latest_.Update(snapshot);
}

}  // namespace bimbackup::snapshot
