#include "clients/snapshot_diff/project_diff.h"

#include <utility>

#include "absl/memory/memory.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot_diff {
namespace {

using storage::format::EntryKind;
using storage::format::ManifestEntry;

bool IsSameItem(const ManifestEntry& a, const ManifestEntry& b) {
  return a.kind == b.kind && a.item_id == b.item_id;
}

bool StandsInBoth(const ManifestPair& pair) {
  return pair.before().has_value() && pair.after().has_value() &&
         IsSameItem(*pair.before(), *pair.after());
}

bool HasSameContent(const ManifestEntry& a, const ManifestEntry& b) {
  return a.kind == EntryKind::kFolder ||
         (a.sha256 == b.sha256 && a.version_id == b.version_id);
}

bool HasMoved(const ManifestEntry& before, const ManifestEntry& after) {
  const bool is_root = after.path.empty();
  return before.path != after.path ||
         (is_root && before.project_name != after.project_name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProjectDiff>> ProjectDiff::Open(
    storage::Storage& storage, const std::string& before,
    const std::string& after, const std::string& scratch_folder,
    const Cancelled& cancelled) {
  auto diff = absl::WrapUnique(new ProjectDiff(scratch_folder));
  if (!before.empty() && !after.empty()) {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestPair> pair,
                          ManifestPair::Open(storage, before, after));
    ABSL_RETURN_IF_ERROR(diff->NoteLoose(*pair, cancelled));
  }
  ABSL_ASSIGN_OR_RETURN(diff->pair_,
                        ManifestPair::Open(storage, before, after));
  return diff;
}

absl::Status ProjectDiff::NoteLoose(ManifestPair& pair,
                                    const Cancelled& cancelled) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const bool more, pair.Next(cancelled));
    if (!more) break;
    if (StandsInBoth(pair)) continue;
    if (pair.before().has_value()) {
      ABSL_RETURN_IF_ERROR(loose_before_.Add(*pair.before()));
    }
    if (pair.after().has_value()) {
      ABSL_RETURN_IF_ERROR(loose_after_.Add(*pair.after()));
    }
  }
  loose_before_.Sort();
  loose_after_.Sort();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Change>> ProjectDiff::Next(
    const Cancelled& cancelled) {
  while (pending_.empty()) {
    ABSL_ASSIGN_OR_RETURN(const bool more, pair_->Next(cancelled));
    if (!more) return std::optional<Change>();
    ABSL_RETURN_IF_ERROR(Compare());
  }
  std::optional<Change> change(std::move(pending_.front()));
  pending_.pop_front();
  return change;
}

absl::Status ProjectDiff::Compare() {
  if (!StandsInBoth(*pair_)) return CompareLoose();
  CompareSame(*pair_->before(), *pair_->after());
  return absl::OkStatus();
}

void ProjectDiff::CompareSame(const ManifestEntry& before,
                              const ManifestEntry& after) {
  if (HasMoved(before, after)) {
    pending_.push_back({ChangeKind::kMoved, before, after});
  } else if (!HasSameContent(before, after)) {
    pending_.push_back({ChangeKind::kChanged, before, after});
  }
}

absl::Status ProjectDiff::CompareLoose() {
  const std::optional<ManifestEntry>& before = pair_->before();
  const std::optional<ManifestEntry>& after = pair_->after();
  bool before_has_gone = false;
  if (before.has_value()) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> now,
                          loose_after_.Find(*before));
    before_has_gone = !now.has_value();
  }
  if (after.has_value()) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<ManifestEntry> origin,
                          loose_before_.Find(*after));
    if (origin.has_value()) {
      CompareSame(*origin, *after);
    } else if (before_has_gone && before->kind == after->kind) {
      // Another item in its place.
      if (after->kind == EntryKind::kFile) {
        pending_.push_back({ChangeKind::kChanged, before, after});
      }
      before_has_gone = false;
    } else {
      pending_.push_back({ChangeKind::kAdded, std::nullopt, after});
    }
  }
  if (before_has_gone) {
    pending_.push_back({ChangeKind::kRemoved, before, std::nullopt});
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::snapshot_diff
