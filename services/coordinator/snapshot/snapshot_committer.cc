#include "services/coordinator/snapshot/snapshot_committer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

using catalog::BackupRecord;
using catalog::BackupState;
using catalog::ProjectRecord;
using storage::format::ManifestCounts;
using storage::format::ManifestEntry;
using storage::format::ManifestReader;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

namespace {

std::vector<std::string> NameProjects(
    const std::vector<ProjectRecord>& projects,
    const storage::format::NameOptions& options) {
  std::vector<storage::format::NamedChild> named;
  named.reserve(projects.size());
  for (const ProjectRecord& project : projects) {
    named.push_back({project.name, project.project_id});
  }
  return storage::format::AssignStoredNames(named, options);
}

}  // namespace

SnapshotCommitter::SnapshotCommitter(catalog::TreeStore& tree,
                                     storage::Storage& storage,
                                     const Clock& clock, std::string account_id,
                                     const storage::format::NameOptions& names)
    : tree_(tree),
      storage_(storage),
      clock_(clock),
      account_id_(std::move(account_id)),
      names_(names),
      builder_(tree, storage, names) {}

absl::StatusOr<Snapshot> SnapshotCommitter::Commit(const BackupRecord& backup,
                                                   BackupState end_state) {
  absl::StatusOr<Snapshot> left =
      storage::format::ReadSnapshot(storage_, backup.id);
  if (left.ok()) {
    ABSL_RETURN_IF_ERROR(tree_.SetSnapshot(backup.number, left->id));
    return left;
  }
  if (!absl::IsNotFound(left.status())) return left.status();

  Snapshot snapshot;
  snapshot.id = backup.id;
  snapshot.backup_id = backup.id;
  snapshot.account_id = account_id_;
  snapshot.storage_id = storage_.id();
  snapshot.start_time = backup.create_time;
  snapshot.state =
      end_state == BackupState::kSucceeded ? "SUCCEEDED" : "PARTIAL";
  ABSL_ASSIGN_OR_RETURN(const ProjectById newest, ReadNewest());
  ABSL_ASSIGN_OR_RETURN(const std::vector<ProjectRecord> projects,
                        tree_.ListProjects());
  const std::vector<std::string> stored_names = NameProjects(projects, names_);
  for (size_t i = 0; i < projects.size(); ++i) {
    ABSL_ASSIGN_OR_RETURN(
        std::optional<SnapshotProject> entry,
        CommitProject(backup, projects[i], stored_names[i], newest));
    if (entry) snapshot.projects.push_back(*std::move(entry));
  }
  snapshot.end_time = clock_.Now();
  MaybeCrash("snapshot.manifests");
  ABSL_RETURN_IF_ERROR(storage::format::WriteSnapshot(storage_, snapshot));
  MaybeCrash("snapshot.file");
  ABSL_RETURN_IF_ERROR(tree_.SetSnapshot(backup.number, snapshot.id));
  return snapshot;
}

absl::StatusOr<SnapshotCommitter::ProjectById> SnapshotCommitter::ReadNewest() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  ProjectById projects;
  if (ids.empty()) return projects;
  absl::StatusOr<Snapshot> newest =
      storage::format::ReadSnapshot(storage_, ids.back());
  if (absl::IsDataLoss(newest.status())) {
    // Only its counts are wanted, and the manifests have them, too.
    spdlog::warn("{}", newest.status());
    return projects;
  }
  ABSL_RETURN_IF_ERROR(newest.status());
  for (SnapshotProject& project : newest->projects) {
    std::string id = project.project_id;
    projects.emplace(std::move(id), std::move(project));
  }
  return projects;
}

absl::StatusOr<std::optional<SnapshotProject>> SnapshotCommitter::CommitProject(
    const BackupRecord& backup, const ProjectRecord& project,
    absl::string_view stored_name, const ProjectById& newest) {
  SnapshotProject entry;
  entry.project_id = project.project_id;
  entry.name = project.name;
  entry.stored_name = std::string(stored_name.data(), stored_name.size());
  entry.manifest_sha256 = project.manifest_sha256;
  if (!project.changed && !project.manifest_sha256.empty()) {
    ABSL_ASSIGN_OR_RETURN(std::optional<SnapshotProject> former,
                          Reuse(entry, newest));
    if (former) return former;
  }
  if (backup.request.HasFilter() && project.manifest_sha256.empty()) {
    ABSL_ASSIGN_OR_RETURN(const catalog::FolderChildren top,
                          tree_.ListChildren(project.project_id, ""));
    if (top.folders.empty() && top.files.empty()) return std::nullopt;
  }
  ABSL_ASSIGN_OR_RETURN(BuiltManifest built,
                        builder_.Build(project, entry.stored_name));
  MaybeCrash("snapshot.manifest");
  ABSL_RETURN_IF_ERROR(
      tree_.SetManifest(backup.number, project.project_id, built.sha256,
                        built.sha256 != project.manifest_sha256));
  entry.manifest_sha256 = std::move(built.sha256);
  entry.counts = built.counts;
  return entry;
}

absl::StatusOr<std::optional<SnapshotProject>> SnapshotCommitter::Reuse(
    const SnapshotProject& entry, const ProjectById& newest) {
  SnapshotProject reused = entry;
  const auto found = newest.find(entry.project_id);
  if (found != newest.end() &&
      found->second.manifest_sha256 == entry.manifest_sha256 &&
      found->second.name == entry.name) {
    if (found->second.stored_name != entry.stored_name) return std::nullopt;
    ABSL_ASSIGN_OR_RETURN(const bool exists,
                          storage_.ObjectExists(storage::format::ManifestKey(
                              entry.manifest_sha256)));
    if (!exists) return std::nullopt;
    reused.counts = found->second.counts;
    return reused;
  }
  // The run that wrote the manifest died before its snapshot.
  ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestCounts> counts,
                        Count(entry));
  if (!counts) return std::nullopt;
  reused.counts = *counts;
  return reused;
}

absl::StatusOr<std::optional<ManifestCounts>> SnapshotCommitter::Count(
    const SnapshotProject& entry) {
  absl::StatusOr<std::unique_ptr<ManifestReader>> reader =
      ManifestReader::Open(storage_, entry.manifest_sha256);
  if (absl::IsNotFound(reader.status())) return std::nullopt;
  ABSL_RETURN_IF_ERROR(reader.status());
  ManifestCounts counts;
  bool is_first = true;
  while (true) {
    absl::StatusOr<std::optional<ManifestEntry>> next = (*reader)->Next();
    if (absl::IsDataLoss(next.status())) return std::nullopt;
    ABSL_RETURN_IF_ERROR(next.status());
    if (!next->has_value()) return counts;
    const ManifestEntry& line = **next;
    if (is_first && (line.stored_path != entry.stored_name ||
                     line.project_name != entry.name)) {
      return std::nullopt;
    }
    is_first = false;
    counts.Add(line);
  }
}

}  // namespace bimbackup::snapshot
