// Leaves a backup's snapshot: the manifests that changed, then the snapshot
// file, then the catalog's record of it.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_COMMITTER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_COMMITTER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/snapshot/manifest_builder.h"

namespace bimbackup::snapshot {

// May die at any point: done again, it goes on. Not thread-safe.
class SnapshotCommitter {
 public:
  // All outlive the committer.
  SnapshotCommitter(catalog::TreeStore& tree, storage::Storage& storage,
                    const Clock& clock, std::string account_id,
                    const storage::format::NameOptions& names);

  // Leaves the snapshot of a backup that will end as `end_state`, under the
  // backup's own id, and returns it. Where it was left before, that one
  // stands.
  absl::StatusOr<storage::format::Snapshot> Commit(
      const catalog::BackupRecord& backup, catalog::BackupState end_state);

 private:
  using ProjectById = std::map<std::string, storage::format::SnapshotProject>;

  // The projects of the newest snapshot; none before the first one.
  absl::StatusOr<ProjectById> ReadNewest();

  // The project's entry; nothing for one that a filter has kept from ever
  // being listed.
  absl::StatusOr<std::optional<storage::format::SnapshotProject>> CommitProject(
      const catalog::BackupRecord& backup,
      const catalog::ProjectRecord& project, absl::string_view stored_name,
      const ProjectById& newest);

  // The unchanged project's entry with its former manifest; nothing where
  // that is not there, or names another folder.
  absl::StatusOr<std::optional<storage::format::SnapshotProject>> Reuse(
      const storage::format::SnapshotProject& entry, const ProjectById& newest);

  // Counts an existing manifest, to the same end.
  absl::StatusOr<std::optional<storage::format::ManifestCounts>> Count(
      const storage::format::SnapshotProject& entry);

  catalog::TreeStore& tree_;
  storage::Storage& storage_;
  const Clock& clock_;
  const std::string account_id_;
  const storage::format::NameOptions names_;
  ManifestBuilder builder_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_SNAPSHOT_COMMITTER_H_
