#include "clients/snapshots/snapshot_browser.h"

#include <algorithm>
#include <utility>

#include "clients/storage/format/protection.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshots {
namespace {

using storage::format::ManifestEntry;
using storage::format::Snapshot;

// Each holds a manifest's file and some megabytes of zstd's window.
constexpr size_t kMaxCursors = 8;
constexpr absl::Duration kCursorLifetime = absl::Minutes(1);

bool Matches(const ManifestEntry& entry, const Glob* glob) {
  if (glob == nullptr) return true;
  std::vector<std::string> path = {entry.project_name};
  path.insert(path.end(), entry.path.begin(), entry.path.end());
  return glob->Matches(path);
}

// Adds a snapshot, or what is wrong with it; nothing where it has been
// forgotten meanwhile.
absl::Status AddSnapshot(storage::Storage& storage, const std::string& id,
                         SnapshotPage& page) {
  absl::StatusOr<Snapshot> snapshot =
      storage::format::ReadSnapshot(storage, id);
  if (absl::IsNotFound(snapshot.status())) return absl::OkStatus();
  ListedSnapshot listed;
  if (snapshot.ok()) {
    listed.snapshot = *std::move(snapshot);
  } else if (absl::IsDataLoss(snapshot.status())) {
    listed.snapshot.id = id;
    listed.damage = std::string(snapshot.status().message());
  } else {
    return snapshot.status();
  }
  ABSL_ASSIGN_OR_RETURN(listed.is_protected,
                        storage::format::IsProtected(storage, id));
  page.snapshots.push_back(std::move(listed));
  return absl::OkStatus();
}

}  // namespace

SnapshotBrowser::SnapshotBrowser(storage::Storage& storage, Clock& clock)
    : storage_(storage), cursors_(clock, kMaxCursors, kCursorLifetime) {}

absl::StatusOr<SnapshotPage> SnapshotBrowser::ListSnapshots(
    absl::string_view before, int limit) {
  cursors_.DropExpired();
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  const std::string bound(before.data(), before.size());
  if (!bound.empty()) {
    ids.erase(std::lower_bound(ids.begin(), ids.end(), bound), ids.end());
  }
  SnapshotPage page;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (static_cast<int>(page.snapshots.size()) == limit) {
      page.next_before = page.snapshots.back().snapshot.id;
      break;
    }
    ABSL_RETURN_IF_ERROR(AddSnapshot(storage_, *id, page));
  }
  return page;
}

absl::StatusOr<std::string> SnapshotBrowser::Resolve(
    absl::string_view snapshot_id) {
  cursors_.DropExpired();
  if (snapshot_id != "-") {
    return std::string(snapshot_id.data(), snapshot_id.size());
  }
  return NewestSnapshotId(storage_);
}

absl::StatusOr<EntryPage> SnapshotBrowser::ListEntries(
    const EntryPosition& start, const Glob* glob, int limit,
    const std::function<bool()>& cancelled) {
  std::unique_ptr<EntryCursor> cursor = cursors_.Take(start);
  if (cursor == nullptr) {
    ABSL_ASSIGN_OR_RETURN(cursor, EntryCursor::Open(storage_, start));
  }
  EntryPage page;
  while (cursor->project() != nullptr) {
    ABSL_ASSIGN_OR_RETURN(const bool ended,
                          AddEntries(*cursor, glob, limit, cancelled, page));
    if (!ended) {
      page.next = cursor->position();
      cursors_.Put(std::move(cursor));
      return page;
    }
    cursor->NextProject();
  }
  return page;
}

absl::StatusOr<bool> SnapshotBrowser::AddEntries(
    EntryCursor& cursor, const Glob* glob, int limit,
    const std::function<bool()>& cancelled, EntryPage& page) {
  while (true) {
    if (cancelled()) return absl::CancelledError("the caller has gone");
    ABSL_ASSIGN_OR_RETURN(ManifestEntry * entry, cursor.Peek());
    if (entry == nullptr) return true;
    if (Matches(*entry, glob)) {
      if (static_cast<int>(page.entries.size()) == limit ||
          page.bytes >= kMaxMessageBytes) {
        return false;
      }
      page.bytes += MessageBytes(*entry);
      page.entries.push_back(std::move(*entry));
    }
    cursor.Pass();
  }
}

absl::StatusOr<std::string> NewestSnapshotId(storage::Storage& storage) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage));
  if (ids.empty()) return absl::NotFoundError("there is no snapshot yet");
  return ids.back();
}

}  // namespace bimbackup::snapshots
