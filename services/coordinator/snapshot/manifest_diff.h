// Brings the latest view from some manifests of a project to another one.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_DIFF_H_
#define SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_DIFF_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "clients/storage/storage.h"

namespace bimbackup::snapshot {

// What a project's part of the view has to become.
struct ProjectChange {
  std::string project_id;
  // Digests of manifests; empty for one without entries. What some of them
  // shows may be shown now; what all of them show is.
  std::vector<std::string> bases;
  // Digest of the manifest to be shown; empty for nothing.
  std::string target;
};

// What the view shows, and so what is compared, are folders and the files
// that have bytes. Both calls read the manifests as streams, side by side by
// stored path, are idempotent, and return DATA_LOSS or NOT_FOUND for a
// manifest that is damaged or missing.

// Removes what some base shows and the target does not. A folder that holds
// what is not ours is left, with a warning.
absl::Status RemoveOutdated(storage::Storage& storage,
                            storage::LatestView& view,
                            const ProjectChange& change);

// What came of adding.
struct Additions {
  int64_t entries = 0;
  // Files whose blob is not there; and one of them.
  int64_t missing_blobs = 0;
  std::string missing_path;
  // Told of every entry, where set; its error ends the adding.
  std::function<absl::Status(int64_t entries)> on_entry;
};

// Puts what the target shows and not every base shows just so, into
// `additions`, which is added to.
absl::Status AddMissing(storage::Storage& storage, storage::LatestView& view,
                        const ProjectChange& change, Additions& additions);

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_DIFF_H_
