#include "clients/restore/item_stream.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/snapshots/snapshot_browser.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using snapshots::EntryCursor;
using storage::format::EntryKind;
using storage::format::ManifestEntry;

// Lines that a batch looks at, at most: some tens of milliseconds.
constexpr int kMaxSteps = 20'000;

// The snapshots that a selection names, oldest first.
absl::StatusOr<std::deque<std::string>> SnapshotsOf(
    storage::Storage& storage, const Selection& selection) {
  if (selection.snapshot_id == "*") {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                          storage::format::ListSnapshotIds(storage));
    return std::deque<std::string>(ids.begin(), ids.end());
  }
  if (selection.snapshot_id == "-") {
    ABSL_ASSIGN_OR_RETURN(std::string newest,
                          snapshots::NewestSnapshotId(storage));
    return std::deque<std::string>{std::move(newest)};
  }
  ABSL_ASSIGN_OR_RETURN(const bool exists,
                        storage.ObjectExists(storage::format::SnapshotKey(
                            selection.snapshot_id)));
  if (exists) return std::deque<std::string>{selection.snapshot_id};
  return absl::NotFoundError(
      absl::StrCat("there is no snapshot ", selection.snapshot_id));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ItemStream>> ItemStream::Open(
    storage::Storage& storage, const Selection& selection) {
  if (!selection.paths.empty()) {
    return absl::InvalidArgumentError("an item is named, and paths as well");
  }
  ABSL_ASSIGN_OR_RETURN(std::deque<std::string> ids,
                        SnapshotsOf(storage, selection));
  return absl::WrapUnique(
      new ItemStream(storage, selection.item_id, std::move(ids)));
}

absl::StatusOr<EntryBatch> ItemStream::Next() {
  EntryBatch batch;
  if (cursor_ != nullptr) batch.snapshot_id = cursor_->snapshot().id;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (cursor_ != nullptr) {
      ABSL_RETURN_IF_ERROR(Step(batch));
      continue;
    }
    // A batch is of one snapshot.
    if (!batch.entries.empty()) return batch;
    if (snapshot_ids_.empty()) {
      if (versions_.empty() && damage_.empty()) {
        return absl::NotFoundError(absl::StrCat("no version of item ", item_id_,
                                                " stands in a snapshot"));
      }
      batch.last = true;
      return batch;
    }
    ABSL_RETURN_IF_ERROR(NextSnapshot());
    if (cursor_ != nullptr) batch.snapshot_id = cursor_->snapshot().id;
  }
  return batch;
}

absl::Status ItemStream::NextSnapshot() {
  const std::string id = std::move(snapshot_ids_.front());
  snapshot_ids_.pop_front();
  auto cursor = EntryCursor::Open(storage_, {id, 0, 0});
  // Forgotten meanwhile.
  if (absl::IsNotFound(cursor.status())) return absl::OkStatus();
  if (absl::IsDataLoss(cursor.status())) {
    damage_.emplace_back(cursor.status().message());
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(cursor.status());
  cursor_ = *std::move(cursor);
  return absl::OkStatus();
}

absl::Status ItemStream::Step(EntryBatch& batch) {
  if (cursor_->project() == nullptr) {
    cursor_.reset();
    return absl::OkStatus();
  }
  if (MaySkip()) {
    cursor_->NextProject();
    return absl::OkStatus();
  }
  const absl::StatusOr<ManifestEntry*> entry = cursor_->Peek();
  if (absl::IsDataLoss(entry.status())) {
    damage_.emplace_back(entry.status().message());
    cursor_->NextProject();
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(entry.status());
  const bool found = *entry != nullptr && (*entry)->item_id == item_id_ &&
                     (*entry)->kind == EntryKind::kFile;
  if (found) Add(std::move(**entry), batch);
  // An item stands in a manifest once.
  if (found || *entry == nullptr) {
    cursor_->NextProject();
  } else {
    cursor_->Pass();
  }
  return absl::OkStatus();
}

bool ItemStream::MaySkip() {
  // Asked before each entry, and decided before the first one.
  if (cursor_->position().line > 0) return false;
  const storage::format::SnapshotProject& project = *cursor_->project();
  if (!project_id_.empty() && project.project_id != project_id_) return true;
  return !manifests_.insert(project.manifest_sha256).second;
}

void ItemStream::Add(ManifestEntry entry, EntryBatch& batch) {
  project_id_ = entry.project_id;
  // Nothing is kept of a version without bytes.
  if (entry.sha256.empty()) return;
  const std::string& version =
      entry.version_id.empty() ? entry.sha256 : entry.version_id;
  if (!versions_.insert(version).second) return;
  batch.entries.push_back(std::move(entry));
}

}  // namespace bimbackup::restore
