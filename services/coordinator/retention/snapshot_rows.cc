#include "services/coordinator/retention/snapshot_rows.h"

#include <utility>

#include "clients/storage/format/protection.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {
namespace {

using storage::format::ManifestCounts;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

void AddCounts(ManifestCounts& sum, const ManifestCounts& counts) {
  sum.files += counts.files;
  sum.folders += counts.folders;
  sum.bytes += counts.bytes;
  sum.carried += counts.carried;
  sum.failed += counts.failed;
  sum.guarded += counts.guarded;
  sum.no_content += counts.no_content;
}

// What is known of a snapshot whose file is torn.
SnapshotRow TornRow(absl::string_view id, const absl::Status& status) {
  SnapshotRow row;
  row.head.id = std::string(id.data(), id.size());
  row.head.start_time = absl::InfinitePast();
  std::string ignored;
  absl::ParseTime("%Y%m%dT%H%M%SZ", id.substr(0, id.find('-')),
                  &row.head.start_time, &ignored);
  row.head.end_time = row.head.start_time;
  row.problem = std::string(status.message().data(), status.message().size());
  return row;
}

absl::StatusOr<SnapshotRow> ReadRow(storage::Storage& storage,
                                    absl::string_view id,
                                    std::vector<SnapshotProject>& projects) {
  absl::StatusOr<Snapshot> snapshot =
      storage::format::ReadSnapshot(storage, id);
  SnapshotRow row;
  if (absl::IsDataLoss(snapshot.status())) {
    row = TornRow(id, snapshot.status());
  } else {
    ABSL_RETURN_IF_ERROR(snapshot.status());
    projects = std::move(snapshot->projects);
    snapshot->projects.clear();
    row.head = *std::move(snapshot);
  }
  row.projects = static_cast<int64_t>(projects.size());
  for (const SnapshotProject& project : projects) {
    AddCounts(row.counts, project.counts);
  }
  ABSL_ASSIGN_OR_RETURN(row.is_protected,
                        storage::format::IsProtected(storage, id));
  return row;
}

}  // namespace

absl::StatusOr<SnapshotRow> ReadSnapshotRow(storage::Storage& storage,
                                            absl::string_view id) {
  std::vector<SnapshotProject> projects;
  return ReadRow(storage, id, projects);
}

absl::StatusOr<std::vector<SnapshotRow>> ReadSnapshotRows(
    storage::Storage& storage, const std::set<std::string>& known_projects) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage));
  std::vector<SnapshotRow> rows;
  std::set<std::string> seen;
  bool is_newest = true;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    std::vector<SnapshotProject> projects;
    ABSL_ASSIGN_OR_RETURN(SnapshotRow row, ReadRow(storage, *id, projects));
    for (const SnapshotProject& project : projects) {
      const bool is_last = seen.insert(project.project_id).second;
      row.holds_guarded |=
          is_last && project.counts.guarded > 0 &&
          (is_newest || known_projects.contains(project.project_id));
    }
    is_newest = is_newest && !row.problem.empty();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bimbackup::retention
