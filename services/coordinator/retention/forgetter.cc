#include "services/coordinator/retention/forgetter.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/protection.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::retention {

Forgetter::Forgetter(storage::Storage& storage, catalog::Catalog& catalog,
                     catalog::SweepGates& gates, Clock& clock,
                     std::string scratch_folder)
    : storage_(storage),
      catalog_(catalog),
      gates_(gates),
      clock_(clock),
      scratch_folder_(std::move(scratch_folder)) {}

absl::Status Forgetter::Forget(const ForgetRequest& request,
                               ForgetObserver& observer) {
  ABSL_RETURN_IF_ERROR(CheckRequest(request));
  {
    MutexLock lock(mutex_);
    if (busy_) {
      return absl::AbortedError("snapshots are being forgotten already");
    }
    busy_ = true;
  }
  const absl::Status status = Run(request, observer);
  MutexLock lock(mutex_);
  busy_ = false;
  return status;
}

absl::Status Forgetter::Run(const ForgetRequest& request,
                            ForgetObserver& observer) {
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_ASSIGN_OR_RETURN(const std::vector<Decision> decisions,
                        MakeDecisions(request));
  observer.OnDecisions(decisions);
  ForgetProgress progress;
  Sweeper::Options options;
  options.scratch_folder = scratch_folder_;
  options.dry_run = request.dry_run;
  if (request.dry_run) {
    for (const Decision& decision : decisions) {
      if (decision.kept) continue;
      options.without.insert(decision.row.head.id);
      ++progress.snapshots_removed;
    }
  } else {
    ABSL_RETURN_IF_ERROR(RemoveSnapshots(decisions, observer, progress));
    MaybeCrash("forget.snapshots_removed");
  }
  Sweeper sweeper(
      storage_, catalog_, catalog_, gates_, [this] { return RunningSince(); },
      options);
  const absl::Status swept = sweeper.Run([&](const SweepCounts& counts) {
    progress.sweep = counts;
    observer.OnProgress(progress);
    return !observer.Cancelled();
  });
  progress.sweep = sweeper.counts();
  observer.OnProgress(progress);
  if (request.dry_run) return swept;
  spdlog::info(
      "{} snapshots forgotten; swept {} manifests and {} blobs of {} "
      "bytes{}{}",
      progress.snapshots_removed, progress.sweep.manifests_removed,
      progress.sweep.blobs_removed, progress.sweep.bytes_removed,
      swept.ok() ? "" : "; the sweep has ended early: ", swept.message());
  return swept;
}

absl::StatusOr<std::vector<Decision>> Forgetter::MakeDecisions(
    const ForgetRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::ProjectRecord> projects,
                        catalog_.ListProjects());
  std::set<std::string> known;
  for (const catalog::ProjectRecord& project : projects) {
    known.insert(project.project_id);
  }
  ABSL_ASSIGN_OR_RETURN(std::vector<SnapshotRow> rows,
                        ReadSnapshotRows(storage_, known));
  return Decide(std::move(rows), request, clock_.Now());
}

absl::Status Forgetter::RemoveSnapshots(const std::vector<Decision>& decisions,
                                        ForgetObserver& observer,
                                        ForgetProgress& progress) {
  // Oldest first, so that what is left is what a shorter policy would keep.
  for (auto it = decisions.rbegin(); it != decisions.rend(); ++it) {
    if (it->kept) continue;
    if (observer.Cancelled()) {
      return absl::CancelledError("the caller has gone");
    }
    ABSL_ASSIGN_OR_RETURN(const bool removed, RemoveSnapshot(it->row.head.id));
    if (!removed) continue;
    MaybeCrash("forget.snapshot_removed");
    ++progress.snapshots_removed;
    observer.OnProgress(progress);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Forgetter::RemoveSnapshot(const std::string& id) {
  MutexLock lock(protection_mutex_);
  ABSL_ASSIGN_OR_RETURN(const bool is_protected,
                        storage::format::IsProtected(storage_, id));
  if (is_protected) return false;
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_RETURN_IF_ERROR(storage_.RemoveObject(storage::format::SnapshotKey(id)));
  spdlog::info("snapshot {} is forgotten", id);
  return true;
}

absl::StatusOr<SnapshotRow> Forgetter::Protect(absl::string_view id,
                                               bool is_protected) {
  MutexLock lock(protection_mutex_);
  std::string found(id.data(), id.size());
  if (id == "-") {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                          storage::format::ListSnapshotIds(storage_));
    if (ids.empty()) return absl::NotFoundError("there is no snapshot yet");
    found = ids.back();
  }
  ABSL_RETURN_IF_ERROR(ReadSnapshotRow(storage_, found).status());
  ABSL_RETURN_IF_ERROR(storage_.CheckMarker());
  ABSL_RETURN_IF_ERROR(
      storage::format::SetProtected(storage_, found, is_protected));
  return ReadSnapshotRow(storage_, found);
}

absl::StatusOr<std::optional<absl::Time>> Forgetter::RunningSince() {
  ABSL_ASSIGN_OR_RETURN(const std::optional<catalog::BackupRecord> running,
                        catalog_.GetRunningBackup());
  if (!running.has_value()) return std::optional<absl::Time>();
  return std::optional<absl::Time>(running->create_time);
}

}  // namespace bimbackup::retention
