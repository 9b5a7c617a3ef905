// The folder tree that people open, beside the blobs it is made of.

#ifndef CLIENTS_STORAGE_LOCAL_LOCAL_LATEST_VIEW_H_
#define CLIENTS_STORAGE_LOCAL_LOCAL_LATEST_VIEW_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/local/file_cloner.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// Not thread-safe. `folders` outlives it.
class LocalLatestView : public LatestView {
 public:
  // UNIMPLEMENTED where the mode is off, or is auto on a file system with
  // neither reflinks nor hard links; FAILED_PRECONDITION where a mode that
  // was asked for by name is not to be had.
  static absl::StatusOr<std::unique_ptr<LocalLatestView>> Open(
      const StorageFolders& folders, LatestMode mode);

  absl::StatusOr<bool> HasFolder(absl::string_view path) override;
  absl::Status PutFolder(absl::string_view path) override;
  absl::Status PutFile(absl::string_view path, absl::string_view sha256,
                       absl::Time last_modified) override;
  absl::Status Remove(absl::string_view path) override;
  absl::Status RemoveTree(absl::string_view path) override;
  absl::Status Sync() override;

 private:
  LocalLatestView(const StorageFolders& folders, UniqueFd latest,
                  LatestMode mode)
      : latest_(std::move(latest)), cloner_(folders, mode) {}

  // The folder that `path` names, through those of the last call that it
  // shares. Component by component, so that a deep tree may be longer than
  // one path can be, and no link is followed out of the view.
  absl::StatusOr<int> OpenFolder(absl::string_view path, bool make);
  // Removes what the innermost open folder holds, and leaves it open.
  absl::Status EmptyFolder();
  // The innermost open folder.
  int Current() const {
    return open_.empty() ? latest_.get() : open_.back().second.get();
  }
  absl::Status EnterFolder(const std::string& name, bool make);

  UniqueFd latest_;
  FileCloner cloner_;
  // The folders along the last path, outermost first.
  std::vector<std::pair<std::string, UniqueFd>> open_;
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_LOCAL_LATEST_VIEW_H_
