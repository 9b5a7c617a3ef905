// Keeps the latest view at the newest snapshot.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_LATEST_UPDATER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_LATEST_UPDATER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/snapshot/manifest_diff.h"

namespace bimbackup::snapshot {

// The catalog remembers which manifest of each project the view shows, so an
// update costs what changed. An update goes through phases that the catalog
// remembers, too, so that one which was interrupted is first brought to its
// end, and no phase starts over once a later one began:
//
//   1. every project that changes is marked with where it is going;
//   2. of all of them, what is outdated is removed: all removals come before
//      any addition, because projects may exchange their names;
//   3. what is missing is added, and project by project recorded as shown.
//
// Where the catalog remembers nothing, or a manifest that is shown has gone,
// the view is emptied and made anew. A project whose folder somebody has
// removed, with latest/ or alone, is put again whole. Not thread-safe.
class LatestUpdater {
 public:
  // Both outlive the updater.
  LatestUpdater(catalog::TreeStore& tree, storage::Storage& storage)
      : tree_(tree), storage_(storage) {}

  // OK also where the storage has no such view, or it is off. INTERNAL,
  // naming one, where blobs are missing; everything else is shown then, and
  // the next update tries again.
  absl::Status Update(const storage::format::Snapshot& snapshot);

  // Told how many entries have been put; an error ends the update, which the
  // next one takes up.
  using Progress = std::function<absl::Status(int64_t entries)>;

  // Empties the view and makes it anew. UNIMPLEMENTED where the storage has
  // no such view, or it is off; else as Update().
  absl::Status Rebuild(const storage::format::Snapshot& snapshot,
                       const Progress& progress);

 private:
  using Shown = std::map<std::string, catalog::ShownProject>;

  absl::StatusOr<Shown> ReadShown();
  absl::Status SetPhase(absl::string_view phase);
  // Empties the view, and forgets what was shown.
  absl::Status Reset(storage::LatestView& view);
  // Ends what an earlier update began.
  absl::Status Resume(storage::LatestView& view);
  // Takes back the marks of an update that touched nothing yet.
  absl::Status Unmark(const Shown& shown);
  absl::Status Advance(storage::LatestView& view,
                       const storage::format::Snapshot& snapshot);
  // Whether the folder of a project, of which this manifest is shown, has
  // gone. The manifest tells its name where that is empty.
  absl::StatusOr<bool> IsGone(storage::LatestView& view,
                              const std::string& manifest,
                              std::string stored_name);
  absl::Status ReportLost() const;
  absl::Status Mark(const std::vector<ProjectChange>& changes);
  absl::Status Remove(storage::LatestView& view,
                      const std::vector<ProjectChange>& changes);
  absl::Status Add(storage::LatestView& view,
                   const std::vector<ProjectChange>& changes);
  // Makes durable, and records, that these are shown now.
  absl::Status SetDone(storage::LatestView& view,
                       std::vector<catalog::ShownProject>& done);

  catalog::TreeStore& tree_;
  storage::Storage& storage_;
  // Of the last call of Add().
  Additions lost_;
  // Of a rebuilding.
  Progress progress_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_LATEST_UPDATER_H_
