// Reads what snapshots hold, page by page.

#ifndef SERVICES_COORDINATOR_RPC_SNAPSHOT_BROWSER_H_
#define SERVICES_COORDINATOR_RPC_SNAPSHOT_BROWSER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "services/common/glob.h"

namespace bimbackup::coordinator_rpc {

// Where a page of entries starts.
struct EntryPosition {
  std::string snapshot_id;
  // Index of the project in the snapshot, and of the line in its manifest.
  int64_t project = 0;
  int64_t line = 0;
};

struct EntryPage {
  std::vector<storage::format::ManifestEntry> entries;
  // Nothing after the last page.
  std::optional<EntryPosition> next;
};

struct SnapshotPage {
  std::vector<storage::format::Snapshot> snapshots;
  // The next page holds what is older than this; empty after the last.
  std::string next_before;
};

// Stateless; memory is bounded by a page and one snapshot file. Thread-safe.
class SnapshotBrowser {
 public:
  // `storage` outlives the browser.
  explicit SnapshotBrowser(storage::Storage& storage) : storage_(storage) {}

  // Up to `limit` snapshots older than `before` (empty: from the newest),
  // newest first.
  absl::StatusOr<SnapshotPage> ListSnapshots(absl::string_view before,
                                             int limit);

  // The id itself, or the newest's for "-". NOT_FOUND.
  absl::StatusOr<std::string> Resolve(absl::string_view snapshot_id);

  // Up to `limit` entries from `start` on whose "<project>/<path>" matches
  // `glob`, where given. Between entries `cancelled` is asked whether to give
  // up.
  absl::StatusOr<EntryPage> ListEntries(const EntryPosition& start,
                                        const Glob* glob, int limit,
                                        const std::function<bool()>& cancelled);

 private:
  // Adds a project's entries from `position` on; returns whether its end was
  // reached.
  absl::StatusOr<bool> AddEntries(
      const storage::format::SnapshotProject& project, const Glob* glob,
      int limit, const std::function<bool()>& cancelled,
      EntryPosition& position, EntryPage& page);

  storage::Storage& storage_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_SNAPSHOT_BROWSER_H_
