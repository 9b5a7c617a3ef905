// The catalog's account tree as a snapshot reads it, and what snapshots and
// the latest view leave there.

#ifndef SERVICES_COORDINATOR_CATALOG_TREE_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_TREE_STORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// What one folder holds.
struct FolderChildren {
  std::vector<FolderRecord> folders;
  std::vector<FileRecord> files;
};

// What the latest view shows of one project.
struct ShownProject {
  std::string project_id;
  std::string manifest_sha256;
  // While an update from manifest_sha256 to this one is under way; else
  // empty.
  std::string updating_to_sha256;
};

// A project, folder or file that could not be listed or fetched.
struct UnlistedRecord {
  std::string project_id;
  std::string project_name;
  // Empty for a project.
  std::string folder_id;
  std::vector<std::string> path;
  std::string reason;
  // What of it AcceptStore can accept.
  bool guarded = false;
  bool denied = false;
};

// Thread-safe. Errors as BackupStore's.
class TreeStore {
 public:
  virtual ~TreeStore() = default;

  // Every known project, in order of its id, vanished ones included.
  virtual absl::StatusOr<std::vector<ProjectRecord>> ListProjects() = 0;

  // What a folder holds (the topmost folders where `folder_id` is empty), as
  // it should stand in a snapshot, in order of name, then id.
  virtual absl::StatusOr<FolderChildren> ListChildren(
      absl::string_view project_id, absl::string_view folder_id) = 0;

  // The project's newest manifest is this one; `changed` is cleared.
  virtual absl::Status SetManifest(BackupNumber backup,
                                   absl::string_view project_id,
                                   absl::string_view manifest_sha256,
                                   bool written) = 0;

  // The backup left this snapshot.
  virtual absl::Status SetSnapshot(BackupNumber backup,
                                   absl::string_view snapshot_id) = 0;

  // What the latest view shows, per project.
  virtual absl::StatusOr<std::vector<ShownProject>> ListShown() = 0;
  virtual absl::Status SetShown(const ShownProject& shown) = 0;

  // Folders and projects that this backup could not list, and those that are
  // guarded or hold guarded files (of guarded ones, the topmost), in order of
  // project and folder id, after the given pair.
  virtual absl::StatusOr<std::vector<UnlistedRecord>> ListUnlisted(
      absl::string_view after_project, absl::string_view after_folder,
      int limit) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TREE_STORE_H_
