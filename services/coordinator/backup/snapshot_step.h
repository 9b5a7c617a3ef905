// The last step of a backup, as its state machine sees it.

#ifndef SERVICES_COORDINATOR_BACKUP_SNAPSHOT_STEP_H_
#define SERVICES_COORDINATOR_BACKUP_SNAPSHOT_STEP_H_

#include "absl/status/status.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::backup {

// Thread-compatible.
class SnapshotStep {
 public:
  virtual ~SnapshotStep() = default;

  // Writes the manifests that changed, then the snapshot, of a backup that
  // will end as `end_state`, and records it in the catalog. Idempotent: after
  // a restart it goes on, or finds that all is done. An error means that no
  // snapshot was left.
  virtual absl::Status WriteSnapshot(const catalog::BackupRecord& backup,
                                     catalog::BackupState end_state) = 0;

  // Brings the latest view up to date with the newest snapshot. An error
  // leaves it to the next backup.
  virtual absl::Status UpdateLatest(const catalog::BackupRecord& backup) = 0;
};

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_SNAPSHOT_STEP_H_
