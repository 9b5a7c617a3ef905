// Makes a lost catalog anew, out of what its storage tells.

#ifndef SERVICES_COORDINATOR_CATALOG_CATALOG_REBUILD_H_
#define SERVICES_COORDINATOR_CATALOG_CATALOG_REBUILD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/coordinator/catalog/known_hashes.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/state_lock.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// A folder as a manifest has it. Those of a project come in the manifest's
// order: each before what it holds.
struct RebuiltFolder {
  // 0 for the project's root folder.
  int depth = 0;
  std::string id;
  std::string name;
  // Why it could not be listed, where it is the topmost that could not.
  std::string unlisted_reason;
  // It is the topmost that is guarded.
  bool guarded = false;
};

// A file of the folder that came last at `depth` - 1.
struct RebuiltFile {
  int depth = 1;
  std::string item_id;
  std::string name;
  std::string version_id;
  int version_number = 0;
  std::optional<int64_t> size;
  std::string storage_urn;
  // Empty where nothing is stored.
  std::string sha256;
  absl::Time last_modified = absl::InfinitePast();
  // Why it has no content, or could not be fetched.
  std::string reason;
  bool guarded = false;
};

// Writes `<state_dir>/catalog.db.rebuild`, which becomes catalog.db at the
// end and is started over when it did not come to that. Starts as an empty
// catalog or as a copy of the lost one. Holds the state folder's lock. Memory
// is bounded. Errors as BackupStore's. Not thread-safe.
class CatalogRebuild {
 public:
  // FAILED_PRECONDITION where another process uses the state folder or it
  // cannot be written; ALREADY_EXISTS where it holds a catalog.
  static absl::StatusOr<std::unique_ptr<CatalogRebuild>> Begin(
      const std::string& state_dir, Clock& clock);
  ~CatalogRebuild();

  // Exactly one of these first; StartFromCopy() after the copy's bytes were
  // appended, from the first to the last. DATA_LOSS, after which the other may
  // be tried, for a copy that is not whole; FAILED_PRECONDITION for one of
  // another storage or a newer program.
  absl::Status StartEmpty(absl::string_view storage_id);
  absl::Status ClearCopy();
  absl::Status AppendCopy(absl::string_view bytes);
  absl::Status StartFromCopy(absl::string_view storage_id);

  // Snapshots whose content the catalog has: those its copy knew.
  absl::StatusOr<std::set<std::string>> KnownSnapshots();

  // Forgets of every stored object that it is, where `is_there` says that its
  // blob is not. Returns how many.
  absl::StatusOr<int64_t> CheckStored(
      const std::function<absl::StatusOr<bool>(absl::string_view sha256,
                                               int64_t size)>& is_there);

  absl::StatusOr<bool> IsStored(absl::string_view storage_urn);
  // The object's bytes are in the storage.
  absl::Status AddStored(absl::string_view storage_urn,
                         absl::string_view sha256, int64_t size);

  // Remembers a manifest; false where it was remembered before.
  absl::StatusOr<bool> NoteManifest(absl::string_view manifest_sha256);

  // The manifest that the project was last seen with; empty for none.
  absl::StatusOr<std::string> ManifestOf(absl::string_view project_id);
  // Forgets what is known of the project and takes its folders and files
  // anew. A file's object counts as stored only where AddStored() said so.
  absl::Status BeginProject(absl::string_view project_id,
                            absl::string_view name, bool vanished);
  absl::Status AddFolder(const RebuiltFolder& folder);
  absl::Status AddFile(const RebuiltFile& file);
  // `manifest_sha256` says just this; empty where none does.
  absl::Status EndProject(absl::string_view manifest_sha256);
  // Forgets all other projects.
  absl::Status KeepProjects(const std::set<std::string>& project_ids);

  // The backup that left this snapshot, unless it is known: oldest first.
  absl::Status AddBackup(absl::string_view snapshot_id, BackupState state,
                         absl::Time create_time, absl::Time end_time);

  // Nothing is known of what the latest view shows.
  absl::Status ForgetShown();

  // Makes it the catalog.
  absl::Status Finish();

 private:
  CatalogRebuild(std::unique_ptr<StateLock> lock, std::string state_dir,
                 Clock& clock);

  absl::Status OpenDatabase();
  absl::Status CheckCopy(absl::string_view storage_id);
  void RemoveFiles();
  void RemoveTree(int64_t project);
  // Ends a transaction now and then; the first error of all since the last.
  absl::Status Step();
  absl::Status CloseDatabase();

  const std::unique_ptr<StateLock> lock_;
  const std::string state_dir_;
  // The file that is written.
  const std::string path_;
  Clock& clock_;
  int copy_fd_ = -1;
  std::unique_ptr<Database> database_;
  // Those of `database_`.
  std::optional<KnownHashes> hashes_;
  int steps_ = 0;

  // Of the project that is being taken.
  int64_t project_ = 0;
  // The folders along the path, by depth.
  std::vector<int64_t> folders_;
  int64_t files_ = 0;
  int64_t folder_count_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CATALOG_REBUILD_H_
