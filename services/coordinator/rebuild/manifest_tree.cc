#include "services/coordinator/rebuild/manifest_tree.h"

namespace bimbackup::rebuild {

using catalog::RebuiltFile;
using catalog::RebuiltFolder;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;

bool ManifestTree::IsVanished(const ManifestEntry& root) {
  return root.path.empty() && root.status == EntryStatus::kGuarded;
}

void ManifestTree::Leave(int depth) {
  if (guarded_ >= depth) guarded_ = kNone;
  if (carried_ >= depth) carried_ = kNone;
}

RebuiltFolder ManifestTree::TakeFolder(const ManifestEntry& entry) {
  RebuiltFolder folder;
  folder.depth = static_cast<int>(entry.path.size());
  folder.id = entry.item_id;
  if (!entry.path.empty()) folder.name = entry.path.back();
  Leave(folder.depth);
  if (vanished_) return folder;
  if (entry.status == EntryStatus::kGuarded && guarded_ == kNone) {
    guarded_ = folder.depth;
    folder.guarded = true;
  }
  if (entry.status == EntryStatus::kCarried && carried_ == kNone) {
    carried_ = folder.depth;
    folder.unlisted_reason = entry.reason;
  }
  return folder;
}

RebuiltFile ManifestTree::TakeFile(const ManifestEntry& entry) {
  RebuiltFile file;
  file.depth = static_cast<int>(entry.path.size());
  Leave(file.depth);
  file.item_id = entry.item_id;
  if (!entry.path.empty()) file.name = entry.path.back();
  // Where a former version stands for the tip, it is taken for the tip: the
  // next listing tells what that is.
  file.version_id = entry.version_id;
  file.version_number = entry.version_number;
  file.size = entry.size;
  file.storage_urn = entry.storage_urn;
  file.sha256 = entry.sha256;
  file.last_modified = entry.last_modified;
  if (entry.status == EntryStatus::kGuarded) {
    file.guarded = guarded_ == kNone && !vanished_;
  } else if (entry.sha256.empty()) {
    file.reason = entry.reason;
  }
  return file;
}

}  // namespace bimbackup::rebuild
