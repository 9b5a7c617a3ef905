#include "clients/snapshot_diff/snapshot_diff.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/snapshots/entry_cursor.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot_diff {
namespace {

using storage::format::ManifestEntry;

constexpr size_t kMaxKept = 4;
constexpr absl::Duration kLifetime = absl::Minutes(1);

bool Matches(const std::optional<ManifestEntry>& entry, const Glob& glob) {
  if (!entry.has_value()) return false;
  std::vector<std::string> path = {entry->project_name};
  path.insert(path.end(), entry->path.begin(), entry->path.end());
  return glob.Matches(path);
}

size_t MessageBytes(const Change& change) {
  size_t bytes = 0;
  for (const auto* entry : {&change.before, &change.after}) {
    if (entry->has_value()) bytes += snapshots::MessageBytes(**entry);
  }
  return bytes;
}

absl::Status NoSnapshot(absl::string_view id) {
  return absl::NotFoundError(absl::StrCat("there is no snapshots/", id));
}

}  // namespace

SnapshotDiff::SnapshotDiff(storage::Storage& storage, Clock& clock,
                           std::string scratch_folder)
    : storage_(storage),
      clock_(clock),
      scratch_folder_(std::move(scratch_folder)) {}

absl::StatusOr<DiffPosition> SnapshotDiff::Begin(absl::string_view from,
                                                 absl::string_view to) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  if (ids.empty()) return absl::NotFoundError("there is no snapshot yet");
  const auto find = [&](absl::string_view id) {
    return id == "-" || id.empty() ? std::prev(ids.end())
                                   : std::find(ids.begin(), ids.end(), id);
  };
  const auto found_to = find(to);
  if (found_to == ids.end()) return NoSnapshot(to);
  DiffPosition position;
  position.to_id = *found_to;
  if (!from.empty()) {
    const auto found_from = find(from);
    if (found_from == ids.end()) return NoSnapshot(from);
    position.from_id = *found_from;
  } else if (found_to != ids.begin()) {
    position.from_id = *std::prev(found_to);
  } else {
    return absl::NotFoundError(absl::StrCat(
        "snapshots/", *found_to, " is the first: there is none before it"));
  }
  return position;
}

absl::StatusOr<DiffPage> SnapshotDiff::ListChanges(const DiffPosition& start,
                                                   const Glob* glob, int limit,
                                                   const Cancelled& cancelled) {
  std::unique_ptr<DiffCursor> cursor = Take(start);
  if (cursor == nullptr) {
    ABSL_ASSIGN_OR_RETURN(
        cursor, DiffCursor::Open(storage_, scratch_folder_, start, cancelled));
  }
  DiffPage page;
  size_t bytes = 0;
  while (static_cast<int>(page.changes.size()) < limit &&
         bytes < snapshots::kMaxMessageBytes) {
    ABSL_ASSIGN_OR_RETURN(std::optional<Change> change,
                          cursor->Next(cancelled));
    if (!change.has_value()) return page;
    if (glob != nullptr && !Matches(change->before, *glob) &&
        !Matches(change->after, *glob)) {
      continue;
    }
    bytes += MessageBytes(*change);
    page.changes.push_back(*std::move(change));
  }
  page.next = cursor->position();
  Keep(std::move(cursor));
  return page;
}

std::unique_ptr<DiffCursor> SnapshotDiff::Take(const DiffPosition& position) {
  // Closed without the mutex.
  std::list<Kept> expired;
  MutexLock lock(mutex_);
  while (!kept_.empty() && kept_.front().expires <= clock_.Monotonic()) {
    expired.splice(expired.end(), kept_, kept_.begin());
  }
  for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
    if (kept->cursor->position() != position) continue;
    std::unique_ptr<DiffCursor> cursor = std::move(kept->cursor);
    kept_.erase(kept);
    return cursor;
  }
  return nullptr;
}

void SnapshotDiff::Keep(std::unique_ptr<DiffCursor> cursor) {
  std::list<Kept> dropped;
  MutexLock lock(mutex_);
  kept_.push_back({std::move(cursor), clock_.Monotonic() + kLifetime});
  if (kept_.size() > kMaxKept) {
    dropped.splice(dropped.end(), kept_, kept_.begin());
  }
}

}  // namespace bimbackup::snapshot_diff
