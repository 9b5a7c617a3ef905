// Reads two manifests of one project side by side.

#ifndef CLIENTS_SNAPSHOT_DIFF_MANIFEST_PAIR_H_
#define CLIENTS_SNAPSHOT_DIFF_MANIFEST_PAIR_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/snapshot_diff/change.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/storage.h"

namespace bimbackup::snapshot_diff {

// By stored paths below the project's own folder, which may have been
// renamed. Streams, in bounded memory. Not thread-safe.
class ManifestPair {
 public:
  // An empty digest stands for a manifest without entries. NOT_FOUND or
  // DATA_LOSS, here and later, for one that is missing or damaged.
  static absl::StatusOr<std::unique_ptr<ManifestPair>> Open(
      storage::Storage& storage, const std::string& before,
      const std::string& after);

  // Goes to the next path that one of them has; false behind the last.
  // CANCELLED soon after `cancelled` says so.
  absl::StatusOr<bool> Next(const Cancelled& cancelled);

  // What stands at the path, in one or both.
  const std::optional<storage::format::ManifestEntry>& before() const {
    return before_.here;
  }
  const std::optional<storage::format::ManifestEntry>& after() const {
    return after_.here;
  }

 private:
  struct Side {
    std::unique_ptr<storage::format::ManifestReader> reader;
    // Read, and not yet passed.
    std::optional<storage::format::ManifestEntry> ahead;
    std::optional<storage::format::ManifestEntry> here;

    absl::Status Open(storage::Storage& storage, const std::string& digest);
    absl::Status Advance();
  };

  Side before_;
  Side after_;
  int steps_ = 0;
};

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_MANIFEST_PAIR_H_
