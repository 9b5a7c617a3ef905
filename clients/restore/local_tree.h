// The destination's folders, as the entries of a stream go through them.

#ifndef CLIENTS_RESTORE_LOCAL_TREE_H_
#define CLIENTS_RESTORE_LOCAL_TREE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/restore/destination.h"
#include "clients/restore/local_names.h"

namespace bimbackup::restore {

// A component that could not have its original name.
struct Renamed {
  std::string original;
  // Within the destination.
  std::string local_path;
};

// Where a file goes.
struct FilePlace {
  std::shared_ptr<Folder> folder;
  std::string name;
};

// Holds open the folders from the destination down to the current one, and
// nothing of what it has left: a folder is never entered twice. Not
// thread-safe.
class LocalTree {
 public:
  // The destination outlives the tree.
  explicit LocalTree(const Destination& destination);

  // The folder that `names` lead to, with all above it made where missing.
  // What stands in the way of one (FAILED_PRECONDITION) stands in the way of
  // all it holds.
  absl::StatusOr<std::shared_ptr<Folder>> Enter(
      const std::vector<EntryName>& names);

  // Where the file that `names` lead to goes; its folder is entered.
  absl::StatusOr<FilePlace> PlaceFile(const std::vector<EntryName>& names);

  // What was given another name since the last call.
  std::vector<Renamed> TakeRenamed();

 private:
  struct Level {
    EntryName name;
    absl::StatusOr<std::shared_ptr<Folder>> folder;
    // Of the folder, whether or not it can be made.
    std::string path;
    FolderNames children;
  };

  // Gives a child of the current folder its name there.
  std::string Assign(const EntryName& name);
  void Descend(const EntryName& name);

  const Destination& destination_;
  // The first is the destination itself.
  std::vector<Level> levels_;
  std::vector<Renamed> renamed_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_LOCAL_TREE_H_
