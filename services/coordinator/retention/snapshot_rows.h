// The snapshots of a storage, as retention looks at them.

#ifndef SERVICES_COORDINATOR_RETENTION_SNAPSHOT_ROWS_H_
#define SERVICES_COORDINATOR_RETENTION_SNAPSHOT_ROWS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::retention {

// One snapshot; small, whatever it holds.
struct SnapshotRow {
  // Without its projects.
  storage::format::Snapshot head;
  int64_t projects = 0;
  // Over all projects.
  storage::format::ManifestCounts counts;
  bool is_protected = false;
  // It is the last to hold a guarded entry, which nobody has accepted.
  bool holds_guarded = false;
  // Why its file does not parse; empty where it does. Then only id and
  // start_time are known.
  std::string problem;
};

// One of them; NOT_FOUND.
absl::StatusOr<SnapshotRow> ReadSnapshotRow(storage::Storage& storage,
                                            absl::string_view id);

// All of them, newest first. Reads one file at a time. `known_projects` are
// those of the catalog: a guarded project that is in no newer snapshot was
// accepted where the catalog does not know it any more. (An entry that is
// guarded stands, so long as it is, in every new snapshot of its project.)
absl::StatusOr<std::vector<SnapshotRow>> ReadSnapshotRows(
    storage::Storage& storage, const std::set<std::string>& known_projects);

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_SNAPSHOT_ROWS_H_
