#include "clients/storage/local/file_removal.h"

#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "clients/storage/local/posix_file.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

std::string ParentOf(const std::string& key) {
  return key.substr(0, key.rfind('/'));
}

}  // namespace

absl::Status RemoveDurably(int root, const std::string& key) {
  absl::StatusOr<UniqueFd> folder = OpenFolderAt(root, ParentOf(key));
  if (absl::IsNotFound(folder.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(folder.status());
  if (unlinkat(root, key.c_str(), 0) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, "remove", key);
  }
  // Also where it had gone already: whoever removed it may have been killed
  // before it was durable.
  return SyncAll(folder->get());
}

absl::Status MoveDurably(int root, const std::string& from,
                         const std::string& to) {
  absl::StatusOr<UniqueFd> source = OpenFolderAt(root, ParentOf(from));
  if (absl::IsNotFound(source.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(source.status());
  ABSL_RETURN_IF_ERROR(MakeFolderAt(root, ParentOf(to)));
  if (renameat(root, from.c_str(), root, to.c_str()) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, "set aside", from);
  }
  ABSL_ASSIGN_OR_RETURN(const UniqueFd target,
                        OpenFolderAt(root, ParentOf(to)));
  // The new name first, so that no crash leaves the file without any.
  ABSL_RETURN_IF_ERROR(SyncAll(target.get()));
  ABSL_RETURN_IF_ERROR(SyncAll(source->get()));
  return SyncAll(root);
}

}  // namespace bimbackup::storage::local
