// Puts a blob's bytes under a second name, in the cheapest way there is.

#ifndef CLIENTS_STORAGE_LOCAL_FILE_CLONER_H_
#define CLIENTS_STORAGE_LOCAL_FILE_CLONER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/local/layout.h"

namespace bimbackup::storage::local {

enum class LatestMode { kAuto, kReflink, kHardlink, kCopy, kOff };

// "auto", "reflink", "hardlink", "copy" or "off"; INVALID_ARGUMENT otherwise.
absl::StatusOr<LatestMode> ParseLatestMode(absl::string_view name);

// Not thread-safe. `folders` outlives it.
class FileCloner {
 public:
  // What `mode` comes to on this file system: never kAuto. Errors as
  // LocalLatestView::Open().
  static absl::StatusOr<LatestMode> Probe(const StorageFolders& folders,
                                          LatestMode mode);

  FileCloner(const StorageFolders& folders, LatestMode mode)
      : folders_(folders), mode_(mode) {}

  // Makes or replaces, atomically, the file `name` in `folder` with the
  // blob's bytes, read-only. A blob that has no link left to give is
  // reflinked or copied.
  absl::Status Clone(absl::string_view sha256, absl::Time last_modified,
                     int folder, const std::string& name);

 private:
  absl::Status Link(const std::string& key, absl::Time last_modified,
                    int folder, const std::string& name);
  // A file of its own, reflinked if `reflink` and otherwise copied.
  absl::Status CopyTo(const std::string& key, absl::Time last_modified,
                      int folder, const std::string& name, bool reflink);
  absl::Status CopyWithoutLinks(const std::string& key,
                                absl::Time last_modified, int folder,
                                const std::string& name);
  // Moves a temporary file over `name`, where an empty folder may stand.
  absl::Status Replace(const std::string& temporary, int folder,
                       const std::string& name);

  const StorageFolders& folders_;
  const LatestMode mode_;
  bool warned_ = false;
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_FILE_CLONER_H_
