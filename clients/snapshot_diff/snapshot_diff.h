// The differences of two snapshots, page by page.

#ifndef CLIENTS_SNAPSHOT_DIFF_SNAPSHOT_DIFF_H_
#define CLIENTS_SNAPSHOT_DIFF_SNAPSHOT_DIFF_H_

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/snapshot_diff/change.h"
#include "clients/snapshot_diff/diff_cursor.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/glob.h"
#include "services/common/mutex.h"

namespace bimbackup::snapshot_diff {

struct DiffPage {
  std::vector<Change> changes;
  // Nothing after the last page.
  std::optional<DiffPosition> next;
};

// Keeps a few cursors for a while, so that a page that follows another costs
// no more than itself; a page without its cursor costs reading its project
// from the start. Thread-safe.
class SnapshotDiff {
 public:
  // All outlive it. What does not fit into memory goes to `scratch_folder`.
  SnapshotDiff(storage::Storage& storage, Clock& clock,
               std::string scratch_folder);

  // The first position of the differences between `from` (empty: the snapshot
  // before `to`) and `to` ("-" or empty: the newest). NOT_FOUND.
  absl::StatusOr<DiffPosition> Begin(absl::string_view from,
                                     absl::string_view to);

  // Up to `limit` changes, fewer where they are large, from `start` on, of
  // which one path, "<project>/<path>", matches `glob`, where given.
  absl::StatusOr<DiffPage> ListChanges(const DiffPosition& start,
                                       const Glob* glob, int limit,
                                       const Cancelled& cancelled);

 private:
  struct Kept {
    std::unique_ptr<DiffCursor> cursor;
    absl::Duration expires;
  };

  std::unique_ptr<DiffCursor> Take(const DiffPosition& position);
  void Keep(std::unique_ptr<DiffCursor> cursor);

  storage::Storage& storage_;
  Clock& clock_;
  const std::string scratch_folder_;
  Mutex mutex_;
  // Oldest first.
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_SNAPSHOT_DIFF_H_
