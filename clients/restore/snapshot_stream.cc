#include "clients/restore/snapshot_stream.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/snapshots/snapshot_browser.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::format::ManifestEntry;

// Lines that a batch looks at, at most: some tens of milliseconds.
constexpr int kMaxSteps = 20'000;

}  // namespace

absl::StatusOr<std::unique_ptr<SnapshotStream>> SnapshotStream::Open(
    storage::Storage& storage, const Selection& selection) {
  ABSL_ASSIGN_OR_RETURN(PathSelector selector,
                        PathSelector::Parse(selection.paths));
  std::string id = selection.snapshot_id;
  if (id == "*") {
    return absl::InvalidArgumentError(
        "all snapshots can be named for one item only");
  }
  if (id == "-") {
    ABSL_ASSIGN_OR_RETURN(id, snapshots::NewestSnapshotId(storage));
  }
  auto cursor = snapshots::EntryCursor::Open(storage, {id, 0, 0});
  if (absl::IsNotFound(cursor.status())) {
    return absl::NotFoundError(absl::StrCat("there is no snapshot ", id));
  }
  ABSL_RETURN_IF_ERROR(cursor.status());
  return absl::WrapUnique(
      new SnapshotStream(*std::move(cursor), std::move(selector)));
}

absl::StatusOr<EntryBatch> SnapshotStream::Next() {
  EntryBatch batch;
  batch.snapshot_id = cursor_->snapshot().id;
  SetTotals(batch);
  bytes_ = 0;
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (batch.entries.size() == kMaxBatchEntries ||
        bytes_ >= snapshots::kMaxMessageBytes) {
      return batch;
    }
    if (cursor_->project() == nullptr) {
      if (!found_ && damage_.empty() && !selector_.everything()) {
        return absl::NotFoundError("none of the paths stands in the snapshot");
      }
      batch.last = true;
      return batch;
    }
    ABSL_RETURN_IF_ERROR(Step(batch));
  }
  return batch;
}

absl::Status SnapshotStream::Step(EntryBatch& batch) {
  if (!selector_.MayHold(*cursor_->project())) {
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
  if (*entry == nullptr) {
    cursor_->NextProject();
    return absl::OkStatus();
  }
  if (selector_.Selects(**entry)) {
    found_ = true;
    bytes_ += snapshots::MessageBytes(**entry);
    batch.entries.push_back(std::move(**entry));
  }
  cursor_->Pass();
  return absl::OkStatus();
}

void SnapshotStream::SetTotals(EntryBatch& batch) const {
  if (!selector_.everything()) return;
  for (const storage::format::SnapshotProject& project :
       cursor_->snapshot().projects) {
    batch.files += project.counts.files;
    batch.bytes += project.counts.bytes;
  }
}

}  // namespace bimbackup::restore
