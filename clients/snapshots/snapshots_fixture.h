// A storage with snapshots, for this folder's tests and its users'. For tests
// only.

#ifndef CLIENTS_SNAPSHOTS_SNAPSHOTS_FIXTURE_H_
#define CLIENTS_SNAPSHOTS_SNAPSHOTS_FIXTURE_H_

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::snapshots {

inline absl::Time TestTime(int seconds) {
  return absl::FromUnixSeconds(1'700'000'000 + seconds);
}

// A storage in a folder of its own, and short ways to fill it.
class SnapshotsFixture {
 public:
  SnapshotsFixture() {
    storage::OpenOptions options;
    options.url = path();
    options.create = true;
    storage_ = *storage::OpenStorage(options);
  }

  const std::string& path() const { return folder_.path(); }
  storage::Storage& storage() { return *storage_; }

  // Stores a blob; returns its digest.
  std::string PutBlob(const std::string& bytes) {
    const std::string sha256 = Sha256Hex(bytes);
    auto writer = *storage_->OpenBlobWriter("urn:" + sha256);
    EXPECT_OK(writer->WriteAt(0, bytes));
    std::promise<absl::Status> done;
    writer->Commit(sha256, static_cast<int64_t>(bytes.size()),
                   [&](const absl::Status& status) { done.set_value(status); });
    EXPECT_OK(done.get_future().get());
    return sha256;
  }

  // Where a blob or manifest stands.
  std::string BlobPath(const std::string& sha256) const {
    return absl::StrCat(path(), "/blobs/sha256/", sha256.substr(0, 3), "/",
                        sha256);
  }
  std::string ManifestPath(const std::string& sha256) const {
    return absl::StrCat(path(), "/", storage::format::ManifestKey(sha256));
  }
  std::string SnapshotPath(const std::string& id) const {
    return absl::StrCat(path(), "/", storage::format::SnapshotKey(id));
  }
  // Puts other bytes in the place of a file.
  static void Overwrite(const std::string& file, const std::string& bytes) {
    std::filesystem::remove(file);
    storage::WriteWholeFile(file, bytes);
  }

  // A folder of project "Tower"; `path` as its original names, joined by '/'.
  static storage::format::ManifestEntry Folder(const std::string& path) {
    storage::format::ManifestEntry entry;
    entry.kind = storage::format::EntryKind::kFolder;
    entry.project_id = "b.tower";
    entry.project_name = "Tower";
    if (!path.empty()) entry.path = absl::StrSplit(path, '/');
    entry.stored_path = absl::StrCat("Tower", path.empty() ? "" : "/", path);
    entry.item_id = "folder:" + path;
    return entry;
  }
  // A file, its bytes stored.
  storage::format::ManifestEntry File(const std::string& path,
                                      const std::string& bytes,
                                      int version = 1) {
    storage::format::ManifestEntry entry = Folder(path);
    entry.kind = storage::format::EntryKind::kFile;
    entry.item_id = "item:" + path;
    entry.version_id = absl::StrCat(entry.item_id, "?version=", version);
    entry.version_number = version;
    entry.size = static_cast<int64_t>(bytes.size());
    entry.sha256 = PutBlob(bytes);
    entry.last_modified = TestTime(version) + absl::Milliseconds(250);
    return entry;
  }
  // Gives the entry to another project.
  static storage::format::ManifestEntry InProject(
      storage::format::ManifestEntry entry, const std::string& name) {
    entry.project_id = "b." + name;
    entry.project_name = name;
    entry.stored_path.replace(0, entry.stored_path.find('/'), name);
    return entry;
  }

  // Writes a project's manifest; its place in a snapshot file.
  storage::format::SnapshotProject PutManifest(
      const std::vector<storage::format::ManifestEntry>& entries) {
    auto writer = *storage::format::ManifestWriter::Create(*storage_);
    for (const auto& entry : entries) EXPECT_OK(writer->Append(entry));
    storage::format::SnapshotProject project;
    project.project_id = entries[0].project_id;
    project.name = entries[0].project_name;
    project.stored_name =
        entries[0].stored_path.substr(0, entries[0].stored_path.find('/'));
    project.manifest_sha256 = *writer->Commit();
    project.counts = writer->counts();
    return project;
  }

  // The id of the n-th snapshot.
  static std::string Id(int number) {
    return absl::StrCat("2026010", number, "T000000Z-00000000");
  }
  // Writes the n-th snapshot.
  std::string PutSnapshot(
      int number,
      const std::vector<storage::format::SnapshotProject>& projects) {
    storage::format::Snapshot snapshot;
    snapshot.id = Id(number);
    snapshot.backup_id = snapshot.id;
    snapshot.state = "SUCCEEDED";
    snapshot.start_time = TestTime(number);
    snapshot.end_time = TestTime(number + 1);
    snapshot.projects = projects;
    EXPECT_OK(storage::format::WriteSnapshot(*storage_, snapshot));
    return snapshot.id;
  }

 private:
  storage::TempFolder folder_;
  std::unique_ptr<storage::Storage> storage_;
};

}  // namespace bimbackup::snapshots

#endif  // CLIENTS_SNAPSHOTS_SNAPSHOTS_FIXTURE_H_
