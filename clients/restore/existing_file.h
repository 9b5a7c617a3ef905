// What stands already where a file is to be restored.

#ifndef CLIENTS_RESTORE_EXISTING_FILE_H_
#define CLIENTS_RESTORE_EXISTING_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/restore/destination.h"
#include "clients/storage/format/manifest.h"

namespace bimbackup::restore {

enum class Existing {
  kNothing,
  // The same size and time; its bytes were not looked at.
  kSame,
  // The same bytes, at another time.
  kSameBytes,
  // Another file, a link or the like.
  kOther,
};

// Compares what has the name with the entry. Reads a file of the same size
// only where its time is another one.
absl::StatusOr<Existing> LookAtExisting(
    const Folder& folder, const std::string& name,
    const storage::format::ManifestEntry& entry);

// Whether anything has the name.
bool IsTaken(const Folder& folder, const std::string& name);

// Sets the modification time of a file; follows no link.
absl::Status SetExistingTime(const Folder& folder, const std::string& name,
                             absl::Time time);

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_EXISTING_FILE_H_
