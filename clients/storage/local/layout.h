// Where things stand in a storage folder, and the folder itself, open.

#ifndef CLIENTS_STORAGE_LOCAL_LAYOUT_H_
#define CLIENTS_STORAGE_LOCAL_LAYOUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/local/posix_file.h"

namespace bimbackup::storage::local {

// A storage folder held open. Everything is reached through these
// descriptors, never through the path again, so that nothing can end up in
// what lies beneath a share that was unmounted meanwhile.
struct StorageFolders {
  // For messages and for looking at the marker.
  std::string path;
  UniqueFd root;
  UniqueFd temporary;
};

// "blobs/sha256/abc/<sha256>", relative to the root.
std::string BlobKey(absl::string_view sha256);

// "damaged/<sha256>", relative to the root.
std::string DamagedKey(absl::string_view sha256);

// The folders that objects and blobs stand in, by their names.
bool IsContentFolder(absl::string_view name);

// Whether snapshots/, manifests/ or blobs/ stands there.
bool HoldsContent(int root);

// Whether `key` names an object that a writer may commit: under manifests/,
// snapshots/, protected/ or catalog/, with no empty, "." or ".." component.
bool IsObjectKey(absl::string_view key);

// Whether `path` is relative, with no empty, "." or ".." component.
bool IsSafeRelativePath(absl::string_view path);

// Opens the folder and its tmp/; UNAVAILABLE, PERMISSION_DENIED or
// FAILED_PRECONDITION (not a folder), in one clear line.
absl::StatusOr<UniqueFd> OpenRoot(const std::string& path);

// The id in the marker of the folder. NOT_FOUND without a marker, DATA_LOSS
// for a damaged one, FAILED_PRECONDITION for a newer format.
absl::StatusOr<std::string> ReadMarker(int root, const std::string& path);

// Makes the marker, with a new id, where the folder holds nothing yet.
// FAILED_PRECONDITION where it does. When somebody else made one meanwhile,
// that one stands.
absl::Status MakeMarker(int root, const std::string& path);

// Makes what is missing of blobs/ with its 4,096 folders, manifests/,
// snapshots/ and tmp/.
absl::Status MakeFolders(int root);

// A name for a temporary file, never used before: "<kind>-<16 hex>".
std::string UniqueTemporaryName(absl::string_view kind);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_LAYOUT_H_
