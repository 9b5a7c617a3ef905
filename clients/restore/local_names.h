// Names in the destination: the original ones, wherever that is possible.

#ifndef CLIENTS_RESTORE_LOCAL_NAMES_H_
#define CLIENTS_RESTORE_LOCAL_NAMES_H_

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"

namespace bimbackup::restore {

// What the destination's file system can hold.
struct NameRules {
  // Bytes of a name.
  size_t max_bytes = 255;
  // Also what Windows reserves: < > : " \ | ? *, control characters, a dot or
  // space at the end.
  bool holds_reserved = true;
  // Names that differ in case or normal form alone are one.
  bool folds = false;
};

// One component of a path.
struct EntryName {
  std::string original;
  // As it stands under latest/.
  std::string stored;

  bool operator==(const EntryName&) const = default;
};

// A file or folder's names from its project down; empty where path and
// stored_path do not have as many.
std::vector<EntryName> TreeNames(const storage::format::ManifestEntry& entry);

// The one name of a version that stands beside the others of its item:
// "plan (version 3).dwg".
std::vector<EntryName> VersionNames(
    const storage::format::ManifestEntry& entry);

// Whether a file system can hold the name.
bool CanHold(absl::string_view name, const NameRules& rules);

// Gives the children of one folder names that differ. Not thread-safe.
class FolderNames {
 public:
  explicit FolderNames(const NameRules& rules) : rules_(rules) {}

  // The original name; where it cannot be held or is taken, the stored one,
  // and one made up from it where that cannot be, either.
  std::string Assign(const EntryName& name);

 private:
  bool Take(const std::string& name);

  NameRules rules_;
  std::unordered_set<std::string> taken_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_LOCAL_NAMES_H_
