// The account that the emulator serves: projects, folders, items, versions.

#ifndef SERVICES_BIM360_EMULATOR_ACCOUNT_H_
#define SERVICES_BIM360_EMULATOR_ACCOUNT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/bim360_emulator/account_nodes.h"
#include "services/bim360_emulator/content.h"
#include "services/bim360_emulator/ids.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360_emulator {

// All of it in memory, about 150 bytes a file; bytes are made when read.
// Nodes are found by keys, which IdCodec turns into identifiers. Queries
// answer with copies. Errors: NOT_FOUND for what is not there,
// ALREADY_EXISTS for a name that is taken by another live node of its kind.
// Thread-safe.
class Account {
 public:
  struct Options {
    uint64_t seed = 1;
    RollupMode rollup = RollupMode::kPerfect;
    // In kLate, a change shows in rollups after this time...
    absl::Duration rollup_delay = absl::Seconds(30);
    // ...or after so many folder pages, when this is above zero.
    int64_t rollup_delay_pages = 0;
  };

  // `clock` outlives the account.
  Account(Options options, const Clock& clock);
  ~Account();

  const IdCodec& ids() const { return ids_; }
  uint64_t seed() const { return options_.seed; }

  // --- Building, and edits by index. ---

  uint32_t AddProject(absl::string_view name, ProjectKind kind);
  uint32_t RootFolder(uint32_t project) const;
  // `key` other than 0 (for what a folder on disk makes) stands for a stable
  // identity; otherwise the node's number does.
  uint32_t AddFolder(uint32_t parent, absl::string_view name, FolderType type,
                     uint64_t key = 0);
  uint32_t AddItem(uint32_t folder, absl::string_view name,
                   const FileSpec& spec, uint64_t key = 0,
                   uint64_t storage_key = 0);
  void AddVersion(uint32_t item, const FileSpec& spec,
                  uint64_t storage_key = 0);
  void HideItem(uint32_t item);
  void HideFolder(uint32_t folder);
  // Takes every folder's rollup from what is below it; ends the building.
  void SettleRollups();

  // --- Edits by path, each at a second of its own. ---

  absl::Status CreateProject(absl::string_view name, ProjectKind kind);
  // Takes the project from the listing, as archiving does, or puts it back.
  absl::Status SetProjectArchived(absl::string_view project, bool archived);
  // Creates missing folders on the way.
  absl::Status CreateFile(const NodePath& where, const FileSpec& spec);
  absl::Status CreateFolder(const NodePath& where);
  absl::Status ChangeFile(const NodePath& where, const FileSpec& spec);
  absl::Status Rename(const NodePath& where, absl::string_view name);
  // Into the folder `to`, which exists, of the same project.
  absl::Status Move(const NodePath& where, const NodePath& to);
  absl::Status Delete(const NodePath& where);

  // --- Queries. ---

  std::vector<ProjectView> ListProjects() const;
  // `guid` with or without `b.`.
  absl::StatusOr<ProjectView> FindProject(absl::string_view guid) const;
  absl::StatusOr<std::vector<FolderView>> TopFolders(uint32_t project) const;
  absl::StatusOr<FolderView> FindFolder(uint32_t project, uint64_t key) const;
  absl::StatusOr<ContentsPage> ListContents(uint32_t project, uint64_t key,
                                            const ContentsQuery& query);
  absl::StatusOr<ItemView> FindItem(uint32_t project, uint64_t key) const;
  // Whatever project it is in.
  absl::StatusOr<ItemView> FindItemAnywhere(uint64_t key) const;
  // Newest first.
  absl::StatusOr<std::vector<Version>> ListVersions(uint32_t project,
                                                    uint64_t key) const;
  // The item that a version's identifier belongs to, with that version in
  // place of its tip.
  absl::StatusOr<ItemView> FindVersion(uint32_t project, uint64_t version_key,
                                       int number) const;
  absl::StatusOr<ObjectView> FindObject(uint64_t storage_key) const;
  absl::StatusOr<std::shared_ptr<const Content>> OpenObject(
      uint64_t storage_key) const;

  // Calls `visit` for every live node under live folders of listed projects,
  // folders before what they hold. Under the lock: `visit` must not call
  // back.
  void VisitTree(const std::function<void(const TreeEntry&)>& visit) const;

  void SetRollupMode(RollupMode mode);

  // Indices by stable key, for what a folder on disk made.
  std::optional<uint32_t> ItemIndex(uint64_t key) const;
  std::optional<uint32_t> FolderIndex(uint64_t key) const;

 private:
  struct Item;
  struct Folder;
  struct Project;
  struct LateRollup;

  int64_t NextChangeTime() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t AddFolderLocked(uint32_t parent, absl::string_view name,
                           FolderType type, uint64_t key, int64_t now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint32_t AddItemLocked(uint32_t folder, absl::string_view name,
                         const FileSpec& spec, uint64_t key,
                         uint64_t storage_key, int64_t now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddVersionLocked(uint32_t item, const FileSpec& spec,
                        uint64_t storage_key, int64_t now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `content` says whether bytes changed, which every mode tells.
  void Touch(uint32_t folder, int64_t now, bool content)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RaiseRollup(uint32_t folder, int64_t time)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ApplyLateRollups() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A file or a folder, found by path.
  struct Found {
    bool is_folder = false;
    uint32_t index = 0;
    uint32_t parent = 0;
  };
  absl::StatusOr<uint32_t> FindProjectLocked(absl::string_view project) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Found> FindPath(const NodePath& where) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<uint32_t> ChildFolder(uint32_t folder,
                                      absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<uint32_t> ChildItem(uint32_t folder,
                                    absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> MakeFolders(uint32_t project,
                                       const std::vector<std::string>& path,
                                       size_t count, int64_t now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckNameFree(uint32_t parent, bool is_folder,
                             absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  FolderView ViewOf(const Folder& folder) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ItemView ViewOf(const Item& item) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<uint32_t> Find(
      const absl::flat_hash_map<uint64_t, uint32_t>& by_key, uint64_t key,
      size_t count) const;
  absl::StatusOr<uint32_t> FolderOf(uint32_t project, uint64_t key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> ItemOf(uint32_t project, uint64_t key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void VisitFolder(uint32_t folder, TreeEntry& entry,
                   const std::function<void(const TreeEntry&)>& visit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Version* VersionOf(const Item& item, uint32_t index, int number) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const Clock& clock_;
  const IdCodec ids_;
  mutable Mutex mutex_;
  RollupMode rollup_mode_ ABSL_GUARDED_BY(mutex_);
  bool settled_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t last_change_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t pages_listed_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<LateRollup> late_rollups_ ABSL_GUARDED_BY(mutex_);
  std::vector<Project> projects_ ABSL_GUARDED_BY(mutex_);
  std::vector<Folder> folders_ ABSL_GUARDED_BY(mutex_);
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
  // Versions before the tip, oldest first, of the few items that have any.
  absl::flat_hash_map<uint32_t, std::vector<Version>> history_
      ABSL_GUARDED_BY(mutex_);
  // Only of nodes with keys of their own.
  absl::flat_hash_map<uint64_t, uint32_t> folder_by_key_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, uint32_t> item_by_key_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, uint32_t> item_by_version_key_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, uint32_t> item_by_storage_key_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, std::shared_ptr<const Content>> literals_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, std::string> disk_paths_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> project_by_guid_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ACCOUNT_H_
