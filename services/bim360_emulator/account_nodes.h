// What an account holds, as copies that need no lock.

#ifndef SERVICES_BIM360_EMULATOR_ACCOUNT_NODES_H_
#define SERVICES_BIM360_EMULATOR_ACCOUNT_NODES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bimbackup::bim360_emulator {

enum class ProjectKind : uint8_t { kAcc, kBim360 };

// Autodesk's folderType of top folders; kService stands for the folders that
// its applications keep beside them.
enum class FolderType : uint8_t { kNormal, kPlan, kService };

enum class ItemKind : uint8_t { kFile, kDocument, kC4rModel };

enum class ContentKind : uint8_t {
  kNone,  // No storage object, as a document of Plans.
  kGenerated,
  kSparse,
  kLiteral,
  kDisk,
};

// How honest lastModifiedTimeRollup is.
enum class RollupMode : uint8_t {
  kPerfect,      // Every change reaches every ancestor.
  kContentOnly,  // Only new files and new versions do.
  kLate,         // As kPerfect, but seen only after the rollup delay.
};

// One version of an item. Times are Unix seconds.
struct Version {
  uint64_t storage_key = 0;
  int64_t size = 0;
  int64_t modified = 0;
  int32_t number = 1;
  ContentKind content = ContentKind::kGenerated;
  // Whether storageSize is told.
  bool size_known = true;
};

struct ProjectView {
  uint32_t index = 0;
  std::string guid;
  std::string name;
  ProjectKind kind = ProjectKind::kAcc;
  uint64_t root_key = 0;
};

struct FolderView {
  uint64_t key = 0;
  uint64_t parent_key = 0;
  bool is_root = false;
  bool is_top = false;
  bool hidden = false;
  FolderType type = FolderType::kNormal;
  std::string name;
  int64_t created = 0;
  int64_t modified = 0;
  int64_t rollup = 0;
  int32_t object_count = 0;
};

struct ItemView {
  uint64_t key = 0;
  uint64_t version_key = 0;
  uint64_t folder_key = 0;
  bool hidden = false;
  ItemKind kind = ItemKind::kFile;
  std::string name;
  int64_t created = 0;
  Version tip;
};

// One page of a folder.
struct ContentsPage {
  FolderView folder;
  std::vector<FolderView> folders;
  std::vector<ItemView> items;
  bool has_next = false;
};

// What to list of a folder.
struct ContentsQuery {
  int page = 0;
  int limit = 200;
  bool folders = true;
  bool items = true;
  bool visible = true;
  bool hidden = false;
};

// A version and the file that it is of.
struct ObjectView {
  std::string name;
  uint64_t item_key = 0;
  Version version;
};

// A file that is added, or the next version of one.
struct FileSpec {
  int64_t size = 0;
  ContentKind content = ContentKind::kGenerated;
  // The bytes where `content` is kLiteral (`size` follows from them), the
  // file's path where it is kDisk.
  std::string bytes;
  ItemKind kind = ItemKind::kFile;
  bool size_known = true;
  // Unix seconds; the time of the change when absent.
  std::optional<int64_t> modified;
};

// Names a file or folder for an edit: its project by GUID (with or without
// `b.`) or name, and the names from the top folder down. Where several have
// the same name, the first.
struct NodePath {
  std::string project;
  std::vector<std::string> path;
};

// A file or folder as a comparison with a backup needs it.
struct TreeEntry {
  bool is_folder = false;
  uint32_t project_index = 0;
  std::string project_guid;
  std::string project_name;
  std::vector<std::string> path;
  // The item's or folder's.
  uint64_t key = 0;
  uint64_t version_key = 0;
  Version tip;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ACCOUNT_NODES_H_
