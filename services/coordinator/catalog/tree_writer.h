// Writes what one page of a listing says into the account tree.

#ifndef SERVICES_COORDINATOR_CATALOG_TREE_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_TREE_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/catalog/frontier_writer.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// Values of folders.missing and files.missing.
enum class Presence {
  kPresent = 0,
  kMissing = 1,
  kGuarded = 2,
  // Guarded no longer: gone, as soon as PurgeSome() has come to it.
  kAccepted = 3,
};

// folders.listed of a folder that is made up, and never listed.
inline constexpr int64_t kMadeUp = -1;
// What its id begins with.
inline constexpr absl::string_view kMadeUpId = "(above)";

// A row of `folders`, as far as a listing needs it.
struct FolderRow {
  int64_t pk = 0;
  int64_t project = 0;
  int64_t parent = 0;
  int depth = 0;
  std::string name;
  std::string rollup;
  std::string listed_rollup;
  int64_t listed = 0;
  int64_t task = 0;
  Presence presence = Presence::kPresent;
  // Its content is carried: it could not be listed at all.
  bool carried = false;
};

std::optional<FolderRow> ReadFolder(Database& database, int64_t pk);
std::optional<FolderRow> FindFolder(Database& database, int64_t project,
                                    absl::string_view id);

// One page of one folder's listing, within a transaction. Not thread-safe.
class TreeWriter {
 public:
  // ListedPage::keeps.
  using KeepFilter = std::function<bool(absl::string_view, bool)>;

  struct Options {
    BackupNumber backup = 0;
    bool recheck_all = false;
    // Whether the task is being worked on.
    std::function<bool(int64_t task)> is_handed_out;
  };

  // `folder` is listed by `task`, which this updates: its defect, its `keep`.
  TreeWriter(WriteBatch& batch, const Options& options, FolderRow folder,
             FrontierRow& task);

  void WriteFolder(const ListedFolder& listed);
  // A topmost folder whose parents cannot be seen: they are made up.
  void WriteDeepFolder(const ListedFolder& listed);
  void WriteItem(const ListedItem& listed);

  // After the last page. What was not seen is missing, unless `keeps`, where
  // not empty, says that it stands; files only where `items_listed`.
  void Finish(bool items_listed, const KeepFilter& keeps);

 private:
  struct FileRow;

  void WriteFolderUnder(const FolderRow& parent, const ListedFolder& listed);
  void AddFolder(const FolderRow& parent, const ListedFolder& listed);
  void UpdateFolder(const FolderRow& parent, const FolderRow& row,
                    const bim360::Folder& folder);
  FolderRow MakeUpFolder(const FolderRow& parent, const std::string& id,
                         const std::string& name);
  void PushUnlessUnchanged(const FolderRow& row, const ListedFolder& listed);
  bool LiesAbove(int64_t folder, const FolderRow& below);

  // `hash` is the item's IdHash().
  std::optional<FileRow> FindFile(absl::string_view item_id, int64_t hash);
  void AddFile(const bim360::Item& item, int64_t hash,
               absl::string_view reason);
  void UpdateFile(const FileRow& row, const bim360::Item& item,
                  absl::string_view reason);
  void KeepFile(const FileRow& row);

  void AddDefect(absl::string_view defect);
  void MarkMissingFiles(const KeepFilter& keeps);
  void MarkMissingFolders(int64_t folder, const KeepFilter& keeps);
  std::vector<int64_t> ListUnseen(const char* sql, int64_t folder, bool folders,
                                  const KeepFilter& keeps);
  void FinishInPart();

  WriteBatch& batch_;
  Database& database_;
  const Options& options_;
  const FolderRow folder_;
  FrontierRow& task_;
  // Made-up folders that this page saw.
  std::vector<int64_t> made_up_;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TREE_WRITER_H_
