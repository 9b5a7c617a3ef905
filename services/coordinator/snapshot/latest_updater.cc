#include "services/coordinator/snapshot/latest_updater.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/manifest.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {
namespace {

using catalog::ShownProject;
using storage::LatestView;
using storage::format::Snapshot;
using storage::format::SnapshotProject;

// The record of no project. Its manifest says that the other records tell all
// there is in the view, or is empty while the view is being emptied; what it
// is updating to is the phase of the update under way.
constexpr char kWholeView[] = "";
constexpr char kKnown[] = "known";
constexpr char kIdle[] = "";
constexpr char kRemoving[] = "removing";
constexpr char kAdding[] = "adding";

// What a project is updating to that leaves the view.
constexpr char kNothing[] = "-";

// So many entries are put between two waits for the disk.
constexpr int64_t kEntriesPerSync = 10000;

// A project whose files could not all be shown, for want of a blob, is
// recorded as updating to what it shows.
bool IsIncomplete(const ShownProject& record) {
  return !record.manifest_sha256.empty() &&
         record.updating_to_sha256 == record.manifest_sha256;
}

// A manifest of what is shown cannot be read: then nothing is known of it.
bool IsManifestLost(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status);
}

}  // namespace

absl::Status LatestUpdater::Update(const Snapshot& snapshot) {
  absl::StatusOr<std::unique_ptr<LatestView>> view = storage_.OpenLatestView();
  if (absl::IsUnimplemented(view.status())) {
    spdlog::info("no latest view: {}", view.status());
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(view.status());
  lost_ = Additions();
  absl::Status status = Resume(**view);
  if (status.ok()) status = Advance(**view, snapshot);
  if (IsManifestLost(status)) {
    spdlog::warn("the latest view is made anew: {}", status);
    ABSL_RETURN_IF_ERROR(Reset(**view));
    status = Advance(**view, snapshot);
  }
  ABSL_RETURN_IF_ERROR(status);
  return ReportLost();
}

absl::Status LatestUpdater::Rebuild(const Snapshot& snapshot,
                                    const Progress& progress) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<LatestView> view,
                        storage_.OpenLatestView());
  lost_ = Additions();
  ABSL_RETURN_IF_ERROR(Reset(*view));
  progress_ = progress;
  const absl::Status status = Advance(*view, snapshot);
  progress_ = nullptr;
  ABSL_RETURN_IF_ERROR(status);
  return ReportLost();
}

absl::Status LatestUpdater::ReportLost() const {
  if (lost_.missing_blobs == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(lost_.missing_blobs,
                                          " blobs are missing, one of them ",
                                          "that of ", lost_.missing_path));
}

absl::StatusOr<LatestUpdater::Shown> LatestUpdater::ReadShown() {
  ABSL_ASSIGN_OR_RETURN(std::vector<ShownProject> records, tree_.ListShown());
  Shown shown;
  for (ShownProject& record : records) {
    std::string id = record.project_id;
    shown.emplace(std::move(id), std::move(record));
  }
  return shown;
}

absl::Status LatestUpdater::SetPhase(absl::string_view phase) {
  return tree_.SetShown(
      {kWholeView, kKnown, std::string(phase.data(), phase.size())});
}

absl::Status LatestUpdater::Reset(LatestView& view) {
  ABSL_RETURN_IF_ERROR(tree_.SetShown({kWholeView, "", ""}));
  ABSL_ASSIGN_OR_RETURN(const Shown shown, ReadShown());
  for (const auto& [id, record] : shown) {
    ABSL_RETURN_IF_ERROR(tree_.SetShown({id, "", ""}));
  }
  ABSL_RETURN_IF_ERROR(view.RemoveTree(""));
  ABSL_RETURN_IF_ERROR(view.Sync());
  return SetPhase(kIdle);
}

absl::Status LatestUpdater::Resume(LatestView& view) {
  ABSL_ASSIGN_OR_RETURN(Shown shown, ReadShown());
  const ShownProject whole = shown[kWholeView];
  shown.erase(kWholeView);
  if (whole.manifest_sha256 != kKnown) return Reset(view);
  if (whole.updating_to_sha256 == kIdle) return Unmark(shown);
  std::vector<ProjectChange> changes;
  for (const auto& [id, record] : shown) {
    const std::string& target = record.updating_to_sha256;
    if (target.empty() || IsIncomplete(record)) continue;
    // The empty base: nobody knows what of the target is shown already.
    changes.push_back(
        {id, {record.manifest_sha256, ""}, target == kNothing ? "" : target});
  }
  if (whole.updating_to_sha256 == kRemoving) {
    ABSL_RETURN_IF_ERROR(Remove(view, changes));
  }
  return Add(view, changes);
}

absl::Status LatestUpdater::Unmark(const Shown& shown) {
  for (const auto& [id, record] : shown) {
    if (record.updating_to_sha256.empty() || IsIncomplete(record)) continue;
    // As incomplete, which it may have been before.
    ABSL_RETURN_IF_ERROR(
        tree_.SetShown({id, record.manifest_sha256, record.manifest_sha256}));
  }
  return absl::OkStatus();
}

absl::Status LatestUpdater::Advance(LatestView& view,
                                    const Snapshot& snapshot) {
  ABSL_ASSIGN_OR_RETURN(Shown shown, ReadShown());
  shown.erase(kWholeView);
  std::vector<ProjectChange> changes;
  for (const SnapshotProject& project : snapshot.projects) {
    const ShownProject former = shown[project.project_id];
    shown.erase(project.project_id);
    ProjectChange change = {
        project.project_id, {former.manifest_sha256}, project.manifest_sha256};
    const bool same = former.manifest_sha256 == project.manifest_sha256;
    ABSL_ASSIGN_OR_RETURN(
        const bool gone,
        IsGone(view, former.manifest_sha256, same ? project.stored_name : ""));
    if (gone || IsIncomplete(former)) {
      change.bases.push_back("");
    } else if (same) {
      continue;
    }
    changes.push_back(std::move(change));
  }
  for (const auto& [id, record] : shown) {
    if (record.manifest_sha256.empty()) continue;
    changes.push_back({id, {record.manifest_sha256}, ""});
  }
  if (changes.empty()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(Mark(changes));
  ABSL_RETURN_IF_ERROR(Remove(view, changes));
  return Add(view, changes);
}

absl::StatusOr<bool> LatestUpdater::IsGone(LatestView& view,
                                           const std::string& manifest,
                                           std::string stored_name) {
  if (manifest.empty()) return false;
  if (stored_name.empty()) {
    ABSL_ASSIGN_OR_RETURN(
        const std::unique_ptr<storage::format::ManifestReader> reader,
        storage::format::ManifestReader::Open(storage_, manifest));
    ABSL_ASSIGN_OR_RETURN(std::optional<storage::format::ManifestEntry> folder,
                          reader->Next());
    if (!folder.has_value()) return false;
    stored_name = std::move(folder->stored_path);
  }
  ABSL_ASSIGN_OR_RETURN(const bool there, view.HasFolder(stored_name));
  if (there) return false;
  spdlog::warn("the latest view has lost {}: it is put again", stored_name);
  return true;
}

absl::Status LatestUpdater::Mark(const std::vector<ProjectChange>& changes) {
  for (const ProjectChange& change : changes) {
    ABSL_RETURN_IF_ERROR(
        tree_.SetShown({change.project_id, change.bases.front(),
                        change.target.empty() ? kNothing : change.target}));
  }
  MaybeCrash("latest.marked");
  return SetPhase(kRemoving);
}

absl::Status LatestUpdater::Remove(LatestView& view,
                                   const std::vector<ProjectChange>& changes) {
  for (const ProjectChange& change : changes) {
    ABSL_RETURN_IF_ERROR(RemoveOutdated(storage_, view, change));
  }
  MaybeCrash("latest.removed");
  ABSL_RETURN_IF_ERROR(view.Sync());
  return SetPhase(kAdding);
}

absl::Status LatestUpdater::Add(LatestView& view,
                                const std::vector<ProjectChange>& changes) {
  lost_ = Additions();
  std::vector<ShownProject> done;
  int64_t unsynced = 0;
  int64_t put = 0;
  for (const ProjectChange& change : changes) {
    Additions additions;
    if (progress_) {
      additions.on_entry = [this, put](int64_t entries) {
        return progress_(put + entries);
      };
    }
    ABSL_RETURN_IF_ERROR(AddMissing(storage_, view, change, additions));
    put += additions.entries;
    const bool incomplete = additions.missing_blobs > 0;
    done.push_back(
        {change.project_id, change.target, incomplete ? change.target : ""});
    if (incomplete) {
      lost_.missing_blobs += additions.missing_blobs;
      lost_.missing_path = std::move(additions.missing_path);
    }
    unsynced += additions.entries;
    if (unsynced >= kEntriesPerSync) {
      ABSL_RETURN_IF_ERROR(SetDone(view, done));
      unsynced = 0;
    }
  }
  MaybeCrash("latest.added");
  ABSL_RETURN_IF_ERROR(SetDone(view, done));
  return SetPhase(kIdle);
}

absl::Status LatestUpdater::SetDone(LatestView& view,
                                    std::vector<ShownProject>& done) {
  ABSL_RETURN_IF_ERROR(view.Sync());
  for (const ShownProject& record : done) {
    ABSL_RETURN_IF_ERROR(tree_.SetShown(record));
  }
  done.clear();
  return absl::OkStatus();
}

}  // namespace bimbackup::snapshot
