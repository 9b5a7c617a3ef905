// What the entries of a manifest say of the catalog's folders and files.

#ifndef SERVICES_COORDINATOR_REBUILD_MANIFEST_TREE_H_
#define SERVICES_COORDINATOR_REBUILD_MANIFEST_TREE_H_

#include "clients/storage/format/manifest.h"
#include "services/coordinator/catalog/catalog_rebuild.h"

namespace bimbackup::rebuild {

// Takes the entries of one manifest in their order: what a folder inherited
// when they were written is said only of the topmost. Not thread-safe.
class ManifestTree {
 public:
  // Whether the root's entry says that the whole project has vanished.
  static bool IsVanished(const storage::format::ManifestEntry& root);

  explicit ManifestTree(bool vanished) : vanished_(vanished) {}

  catalog::RebuiltFolder TakeFolder(
      const storage::format::ManifestEntry& entry);
  catalog::RebuiltFile TakeFile(const storage::format::ManifestEntry& entry);

 private:
  static constexpr int kNone = -1;

  // Forgets the folders that do not hold an entry of this depth.
  void Leave(int depth);

  const bool vanished_;
  // Depth of the topmost guarded, or carried, folder that is open.
  int guarded_ = kNone;
  int carried_ = kNone;
};

}  // namespace bimbackup::rebuild

#endif  // SERVICES_COORDINATOR_REBUILD_MANIFEST_TREE_H_
