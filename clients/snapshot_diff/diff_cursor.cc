#include "clients/snapshot_diff/diff_cursor.h"

#include <utility>

#include "absl/memory/memory.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot_diff {
namespace {

using storage::format::Snapshot;

}  // namespace

absl::StatusOr<std::unique_ptr<DiffCursor>> DiffCursor::Open(
    storage::Storage& storage, const std::string& scratch_folder,
    const DiffPosition& start, const Cancelled& cancelled) {
  auto cursor =
      absl::WrapUnique(new DiffCursor(storage, scratch_folder, start));
  ABSL_ASSIGN_OR_RETURN(const Snapshot before,
                        storage::format::ReadSnapshot(storage, start.from_id));
  ABSL_ASSIGN_OR_RETURN(const Snapshot after,
                        storage::format::ReadSnapshot(storage, start.to_id));
  cursor->AddPairs(before, after);
  cursor->position_.change = 0;
  while (cursor->position_.project_id <= start.project_id &&
         cursor->position_.change < start.change) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<Change> passed,
                          cursor->Next(cancelled));
    if (!passed.has_value()) break;
  }
  return cursor;
}

void DiffCursor::AddPairs(const Snapshot& before, const Snapshot& after) {
  auto left = before.projects.begin();
  auto right = after.projects.begin();
  while (left != before.projects.end() || right != after.projects.end()) {
    const bool only_left =
        right == after.projects.end() ||
        (left != before.projects.end() && left->project_id < right->project_id);
    const bool only_right =
        left == before.projects.end() ||
        (right != after.projects.end() && right->project_id < left->project_id);
    if (only_left) {
      AddPair(left->project_id, left->manifest_sha256, "");
    } else if (only_right) {
      AddPair(right->project_id, "", right->manifest_sha256);
    } else {
      AddPair(left->project_id, left->manifest_sha256, right->manifest_sha256);
    }
    if (!only_right) ++left;
    if (!only_left) ++right;
  }
}

void DiffCursor::AddPair(const std::string& project_id,
                         const std::string& before, const std::string& after) {
  if (before == after || project_id < position_.project_id) return;
  pairs_.push_back({project_id, before, after});
}

absl::StatusOr<std::optional<Change>> DiffCursor::Next(
    const Cancelled& cancelled) {
  while (true) {
    if (project_ != nullptr) {
      ABSL_ASSIGN_OR_RETURN(std::optional<Change> change,
                            project_->Next(cancelled));
      if (change.has_value()) {
        ++position_.change;
        return change;
      }
      project_.reset();
    }
    if (next_pair_ == pairs_.size()) return std::optional<Change>();
    if (cancelled()) return absl::CancelledError("the caller has gone");
    const Pair& pair = pairs_[next_pair_++];
    ABSL_ASSIGN_OR_RETURN(project_,
                          ProjectDiff::Open(storage_, pair.before, pair.after,
                                            scratch_folder_, cancelled));
    position_.project_id = pair.project_id;
    position_.change = 0;
  }
}

}  // namespace bimbackup::snapshot_diff
