// The differences of one project's manifests.

#ifndef CLIENTS_SNAPSHOT_DIFF_PROJECT_DIFF_H_
#define CLIENTS_SNAPSHOT_DIFF_PROJECT_DIFF_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/snapshot_diff/change.h"
#include "clients/snapshot_diff/loose_entries.h"
#include "clients/snapshot_diff/manifest_pair.h"
#include "clients/storage/storage.h"

namespace bimbackup::snapshot_diff {

// Reads the manifests twice: first to note what does not stand in both at one
// place, because only that can have moved, then to tell what has changed.
// Memory is bounded by 16 bytes for each entry noted. Not thread-safe.
class ProjectDiff {
 public:
  // Empty digests as ManifestPair::Open(). Does the first reading.
  static absl::StatusOr<std::unique_ptr<ProjectDiff>> Open(
      storage::Storage& storage, const std::string& before,
      const std::string& after, const std::string& scratch_folder,
      const Cancelled& cancelled);

  // The next change in the order of stored paths; what has moved stands where
  // it is now. Nothing after the last. What has the same bytes and version has
  // not changed, whatever its status; of a renamed project only its root
  // folder has moved.
  absl::StatusOr<std::optional<Change>> Next(const Cancelled& cancelled);

 private:
  explicit ProjectDiff(const std::string& scratch_folder)
      : loose_before_(scratch_folder), loose_after_(scratch_folder) {}

  absl::Status NoteLoose(ManifestPair& pair, const Cancelled& cancelled);
  // Adds the changes at the pair's path.
  absl::Status Compare();
  absl::Status CompareLoose();
  void CompareSame(const storage::format::ManifestEntry& before,
                   const storage::format::ManifestEntry& after);

  LooseEntries loose_before_;
  LooseEntries loose_after_;
  std::unique_ptr<ManifestPair> pair_;
  // At most two.
  std::deque<Change> pending_;
};

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_PROJECT_DIFF_H_
