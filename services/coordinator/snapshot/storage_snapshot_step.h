// The last step of a backup: its snapshot and the latest view.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_
#define SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_

#include <string>

#include "absl/status/status.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/coordinator/backup/snapshot_step.h"
#include "services/coordinator/catalog/damage_store.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/snapshot/latest_updater.h"
#include "services/coordinator/snapshot/snapshot_committer.h"
#include "services/coordinator/snapshot/view_mender.h"

namespace bimbackup::snapshot {

// Thread-compatible.
class StorageSnapshotStep : public backup::SnapshotStep {
 public:
  // All outlive the step.
  StorageSnapshotStep(catalog::TreeStore& tree, catalog::DamageStore& damage,
                      storage::Storage& storage, const Clock& clock,
                      std::string account_id,
                      const storage::format::NameOptions& names,
                      catalog::SweepGates& gates);

  absl::Status WriteSnapshot(const catalog::BackupRecord& backup,
                             catalog::BackupState end_state) override;
  absl::Status UpdateLatest(const catalog::BackupRecord& backup) override;

 private:
  storage::Storage& storage_;
  catalog::SweepGates& gates_;
  SnapshotCommitter committer_;
  LatestUpdater latest_;
  ViewMender mender_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_
