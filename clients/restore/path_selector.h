// Which entries of a snapshot were asked for.

#ifndef CLIENTS_RESTORE_PATH_SELECTOR_H_
#define CLIENTS_RESTORE_PATH_SELECTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "services/common/glob.h"

namespace bimbackup::restore {

// Paths in original names, paths as they stand under latest/, and globs over
// the former, whichever of them an entry fits. Takes entries in the order of
// manifests. Not thread-safe.
class PathSelector {
 public:
  // Everything where `paths` is empty. INVALID_ARGUMENT for an empty path or
  // a malformed glob.
  static absl::StatusOr<PathSelector> Parse(
      const std::vector<std::string>& paths);

  bool everything() const { return patterns_.empty(); }

  // Whether the project may hold what was asked for.
  bool MayHold(const storage::format::SnapshotProject& project) const;

  // Whether the entry was asked for, itself or a folder above it.
  bool Selects(const storage::format::ManifestEntry& entry);

 private:
  struct Pattern {
    std::string text;
    // Absent where `text` has none of a glob's characters.
    std::optional<Glob> glob;
  };

  static bool Matches(const Pattern& pattern,
                      const std::vector<std::string>& names,
                      absl::string_view stored_path);
  static bool MayHold(const Pattern& pattern,
                      const storage::format::SnapshotProject& project);

  std::vector<Pattern> patterns_;
  // The folder that was selected last, as a prefix of stored paths.
  std::string selected_folder_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_PATH_SELECTOR_H_
