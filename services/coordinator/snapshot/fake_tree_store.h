// A catalog's tree in memory. For tests.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_FAKE_TREE_STORE_H_
#define SERVICES_COORDINATOR_SNAPSHOT_FAKE_TREE_STORE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "services/coordinator/catalog/tree_store.h"

namespace bimbackup::snapshot {

// Plain members that a test fills and reads. Not thread-safe.
class FakeTreeStore : public catalog::TreeStore {
 public:
  using FolderKey = std::pair<std::string, std::string>;

  std::map<std::string, catalog::ProjectRecord> projects;
  // By project and folder id.
  std::map<FolderKey, catalog::FolderChildren> children;
  std::map<std::string, catalog::ShownProject> shown;
  std::map<catalog::BackupNumber, std::string> snapshots;
  int manifests_written = 0;
  // The number of the changing call that fails, counted down; 0 for none.
  int fail_at_change = 0;

  catalog::ProjectRecord& AddProject(const std::string& id,
                                     const std::string& name) {
    catalog::ProjectRecord& project = projects[id];
    project.project_id = id;
    project.name = name;
    project.root_folder_id = "root-" + id;
    children[{id, ""}];
    return project;
  }

  catalog::FolderRecord& AddFolder(const std::string& project,
                                   const std::string& parent,
                                   const std::string& id,
                                   const std::string& name) {
    children[{project, id}];
    std::vector<catalog::FolderRecord>& folders =
        children[{project, parent}].folders;
    folders.push_back({project, id, parent, name, "", false});
    projects[project].changed = true;
    return folders.back();
  }

  // A file whose bytes are stored.
  catalog::FileRecord& AddFile(const std::string& project,
                               const std::string& folder, const std::string& id,
                               const std::string& name,
                               const std::string& sha256) {
    std::vector<catalog::FileRecord>& files = children[{project, folder}].files;
    catalog::FileRecord& file = files.emplace_back();
    file.project_id = project;
    file.folder_id = folder;
    file.item_id = id;
    file.name = name;
    file.version_id = id + "?version=1";
    file.version_number = 1;
    file.size = 5;
    file.storage_urn = "urn:" + id;
    file.last_modified = absl::FromUnixSeconds(1700000000);
    file.sha256 = sha256;
    projects[project].changed = true;
    return file;
  }

  absl::StatusOr<std::vector<catalog::ProjectRecord>> ListProjects() override {
    std::vector<catalog::ProjectRecord> records;
    for (const auto& [id, project] : projects) records.push_back(project);
    return records;
  }

  absl::StatusOr<catalog::FolderChildren> ListChildren(
      absl::string_view project_id, absl::string_view folder_id) override {
    const auto found =
        children.find({std::string(project_id), std::string(folder_id)});
    if (found == children.end()) return absl::NotFoundError("no such folder");
    return found->second;
  }

  absl::Status SetManifest(catalog::BackupNumber, absl::string_view project_id,
                           absl::string_view manifest_sha256,
                           bool written) override {
    if (Fails()) return absl::InternalError("the catalog failed");
    catalog::ProjectRecord& project = projects.at(std::string(project_id));
    project.manifest_sha256 = std::string(manifest_sha256);
    project.changed = false;
    manifests_written += written ? 1 : 0;
    return absl::OkStatus();
  }

  absl::Status SetSnapshot(catalog::BackupNumber backup,
                           absl::string_view snapshot_id) override {
    if (Fails()) return absl::InternalError("the catalog failed");
    snapshots[backup] = std::string(snapshot_id);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<catalog::ShownProject>> ListShown() override {
    std::vector<catalog::ShownProject> records;
    for (const auto& [id, record] : shown) records.push_back(record);
    return records;
  }

  absl::Status SetShown(const catalog::ShownProject& record) override {
    if (Fails()) return absl::InternalError("the catalog failed");
    shown[record.project_id] = record;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<catalog::UnlistedRecord>> ListUnlisted(
      absl::string_view, absl::string_view, int) override {
    return std::vector<catalog::UnlistedRecord>();
  }

 private:
  bool Fails() { return fail_at_change > 0 && --fail_at_change == 0; }
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_FAKE_TREE_STORE_H_
