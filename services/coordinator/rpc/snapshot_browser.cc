#include "services/coordinator/rpc/snapshot_browser.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::coordinator_rpc {
namespace {

using storage::format::ManifestEntry;
using storage::format::ManifestReader;

bool Matches(const ManifestEntry& entry, const Glob* glob) {
  if (glob == nullptr) return true;
  std::vector<std::string> path = {entry.project_name};
  path.insert(path.end(), entry.path.begin(), entry.path.end());
  return glob->Matches(path);
}

}  // namespace

absl::StatusOr<SnapshotPage> SnapshotBrowser::ListSnapshots(
    absl::string_view before, int limit) {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  const std::string bound(before.data(), before.size());
  if (!bound.empty()) {
    ids.erase(std::lower_bound(ids.begin(), ids.end(), bound), ids.end());
  }
  SnapshotPage page;
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (static_cast<int>(page.snapshots.size()) == limit) {
      page.next_before = page.snapshots.back().id;
      break;
    }
    ABSL_ASSIGN_OR_RETURN(storage::format::Snapshot snapshot,
                          storage::format::ReadSnapshot(storage_, *id));
    page.snapshots.push_back(std::move(snapshot));
  }
  return page;
}

absl::StatusOr<std::string> SnapshotBrowser::Resolve(
    absl::string_view snapshot_id) {
  if (snapshot_id != "-") {
    return std::string(snapshot_id.data(), snapshot_id.size());
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                        storage::format::ListSnapshotIds(storage_));
  if (ids.empty()) return absl::NotFoundError("there is no snapshot yet");
  return ids.back();
}

absl::StatusOr<EntryPage> SnapshotBrowser::ListEntries(
    const EntryPosition& start, const Glob* glob, int limit,
    const std::function<bool()>& cancelled) {
  ABSL_ASSIGN_OR_RETURN(
      const storage::format::Snapshot snapshot,
      storage::format::ReadSnapshot(storage_, start.snapshot_id));
  EntryPage page;
  EntryPosition position = start;
  while (position.project < static_cast<int64_t>(snapshot.projects.size())) {
    ABSL_ASSIGN_OR_RETURN(const bool ended,
                          AddEntries(snapshot.projects[position.project], glob,
                                     limit, cancelled, position, page));
    if (!ended) {
      page.next = position;
      return page;
    }
    ++position.project;
    position.line = 0;
  }
  return page;
}

absl::StatusOr<bool> SnapshotBrowser::AddEntries(
    const storage::format::SnapshotProject& project, const Glob* glob,
    int limit, const std::function<bool()>& cancelled, EntryPosition& position,
    EntryPage& page) {
  ABSL_ASSIGN_OR_RETURN(
      const std::unique_ptr<ManifestReader> reader,
      ManifestReader::Open(storage_, project.manifest_sha256));
  for (int64_t line = 0;; ++line) {
    if (cancelled()) return absl::CancelledError("the caller has gone");
    ABSL_ASSIGN_OR_RETURN(std::optional<ManifestEntry> entry, reader->Next());
    if (!entry.has_value()) return true;
    if (line < position.line || !Matches(*entry, glob)) continue;
    if (static_cast<int>(page.entries.size()) == limit) {
      position.line = line;
      return false;
    }
    page.entries.push_back(*std::move(entry));
  }
}

}  // namespace bimbackup::coordinator_rpc
