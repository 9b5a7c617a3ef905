// Reads what snapshots hold, page by page.

#ifndef CLIENTS_SNAPSHOTS_SNAPSHOT_BROWSER_H_
#define CLIENTS_SNAPSHOTS_SNAPSHOT_BROWSER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/snapshots/cursor_cache.h"
#include "clients/snapshots/entry_cursor.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/glob.h"

namespace bimbackup::snapshots {

struct EntryPage {
  std::vector<storage::format::ManifestEntry> entries;
  // Of the entries, as messages.
  size_t bytes = 0;
  // Nothing after the last page.
  std::optional<EntryPosition> next;
};

struct ListedSnapshot {
  // Only its id where it is damaged.
  storage::format::Snapshot snapshot;
  // Why it cannot be read; empty where it can.
  std::string damage;
  // No rule forgets it.
  bool is_protected = false;
};

struct SnapshotPage {
  std::vector<ListedSnapshot> snapshots;
  // The next page holds what is older than this; empty after the last.
  std::string next_before;
};

// Memory is bounded by a page, a snapshot file and a few open manifests.
// Thread-safe.
class SnapshotBrowser {
 public:
  // Both outlive the browser.
  SnapshotBrowser(storage::Storage& storage, Clock& clock);

  // Up to `limit` snapshots older than `before` (empty: from the newest),
  // newest first; torn ones among them.
  absl::StatusOr<SnapshotPage> ListSnapshots(absl::string_view before,
                                             int limit);

  // The id itself, or the newest's for "-". NOT_FOUND.
  absl::StatusOr<std::string> Resolve(absl::string_view snapshot_id);

  // Up to `limit` entries, fewer where they are large, from `start` on whose
  // "<project>/<path>" matches `glob`, where given. Between entries `cancelled`
  // is asked whether to give up. A `start` that a page named as its next costs
  // no more than its page while it is asked for soon. DATA_LOSS, naming it, for
  // a damaged manifest.
  absl::StatusOr<EntryPage> ListEntries(const EntryPosition& start,
                                        const Glob* glob, int limit,
                                        const std::function<bool()>& cancelled);

 private:
  // Adds a project's entries up to `limit`; returns whether its end was
  // reached.
  absl::StatusOr<bool> AddEntries(EntryCursor& cursor, const Glob* glob,
                                  int limit,
                                  const std::function<bool()>& cancelled,
                                  EntryPage& page);

  storage::Storage& storage_;
  CursorCache cursors_;
};

// The id of the newest snapshot. NOT_FOUND where there is none.
absl::StatusOr<std::string> NewestSnapshotId(storage::Storage& storage);

}  // namespace bimbackup::snapshots

#endif  // CLIENTS_SNAPSHOTS_SNAPSHOT_BROWSER_H_
