// The last step of a backup: its snapshot and the latest view.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_
#define SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/backup/snapshot_step.h"
#include "services/coordinator/catalog/damage_store.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/snapshot/latest_updater.h"
#include "services/coordinator/snapshot/snapshot_committer.h"
#include "services/coordinator/snapshot/view_mender.h"

namespace bimbackup::snapshot {

// RebuildLatest() may be called by any thread at any time; the rest is for one
// at a time.
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
  // Ends a rebuilding that runs, to go on from where it is.
  absl::Status UpdateLatest(const catalog::BackupRecord& backup) override;

  // Makes the latest view anew from the newest snapshot, which `begun` is
  // told. FAILED_PRECONDITION: there is no view, or no snapshot. ABORTED: a
  // backup brings the view up to date, or another call makes it anew. Errors
  // of `begun` and `progress` end it; the next backup then goes on.
  absl::Status RebuildLatest(
      const std::function<absl::Status(const storage::format::Snapshot&)>&
          begun,
      const LatestUpdater::Progress& progress);

  // Whether a backup waits for a rebuilding to end.
  bool BackupWaits() ABSL_LOCKS_EXCLUDED(view_mutex_);

 private:
  // Lets one thread at a time at the view. A backup waits until a rebuilding
  // has seen that it is to end; a rebuilding does not wait.
  void EnterForBackup() ABSL_LOCKS_EXCLUDED(view_mutex_);
  bool TryEnter() ABSL_LOCKS_EXCLUDED(view_mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(view_mutex_);
  absl::Status UpdateView(const catalog::BackupRecord& backup);
  absl::Status RebuildView(
      const std::function<absl::Status(const storage::format::Snapshot&)>&
          begun,
      const LatestUpdater::Progress& progress);

  storage::Storage& storage_;
  catalog::SweepGates& gates_;
  SnapshotCommitter committer_;
  LatestUpdater latest_;
  ViewMender mender_;

  Mutex view_mutex_;
  CondVar view_left_;
  bool view_taken_ ABSL_GUARDED_BY(view_mutex_) = false;
  bool backup_waits_ ABSL_GUARDED_BY(view_mutex_) = false;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_STORAGE_SNAPSHOT_STEP_H_
