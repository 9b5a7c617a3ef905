#include "services/coordinator/catalog/tree_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

#define FOLDER_COLUMNS                                                       \
  "SELECT pk, project, parent, depth, name, rollup, listed_rollup, listed, " \
  "task, missing, unlisted IS NOT NULL AND in_part = 0 FROM folders "

constexpr char kReadFolder[] = FOLDER_COLUMNS "WHERE pk = ?";
constexpr char kFindFolder[] =
    FOLDER_COLUMNS "WHERE id_hash = ?1 AND id = ?2 AND project = ?3";

#undef FOLDER_COLUMNS

constexpr char kAddFolder[] = R"sql(
INSERT INTO folders(project, parent, depth, id_hash, id, name, rollup, seen,
  listed)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr char kUpdateFolder[] = R"sql(
UPDATE folders SET parent = ?2, depth = ?3, name = ?4, rollup = ?5, seen = ?6,
  missing = 0
WHERE pk = ?1)sql";

constexpr char kSetTaskRollup[] =
    "UPDATE frontier SET rollup = ?2 WHERE task = ?1 AND page_number = 0";

constexpr char kKeepFolder[] = "UPDATE folders SET kept_by = ? WHERE pk = ?";

constexpr char kReadParent[] = "SELECT parent FROM folders WHERE pk = ?";

constexpr char kReadCrawlTask[] =
    "SELECT crawl_task FROM backups WHERE number = ?";

constexpr char kSetListed[] = R"sql(
UPDATE folders SET listed = ?2, listed_rollup = ?3, unlisted = NULL,
  in_part = 0, denied = 0
WHERE pk = ?1)sql";

constexpr char kSetInPart[] =
    "UPDATE folders SET unlisted = ?2, in_part = 1, denied = 0 WHERE pk = ?1";

constexpr char kListUnseenFiles[] = R"sql(
SELECT pk, name FROM files WHERE folder = ? AND seen <> ? AND missing = 0
)sql";

constexpr char kMissFile[] = "UPDATE files SET missing = 1 WHERE pk = ?";

constexpr char kListUnseenFolders[] = R"sql(
SELECT pk, name FROM folders WHERE parent = ? AND seen <> ? AND missing = 0
)sql";

constexpr char kMissFolder[] = "UPDATE folders SET missing = 1 WHERE pk = ?";

std::optional<FolderRow> ReadRow(Query& query) {
  if (!query.Next()) return std::nullopt;
  FolderRow row;
  row.pk = query.Int(0);
  row.project = query.Int(1);
  row.parent = query.Int(2);
  row.depth = query.Int(3);
  row.name = query.Text(4);
  row.rollup = query.Text(5);
  row.listed_rollup = query.Text(6);
  row.listed = query.Int(7);
  row.task = query.Int(8);
  row.presence = static_cast<Presence>(query.Int(9));
  row.carried = query.Int(10) != 0;
  return row;
}

}  // namespace

std::optional<FolderRow> ReadFolder(Database& database, int64_t pk) {
  Query query(database, kReadFolder, pk);
  return ReadRow(query);
}

std::optional<FolderRow> FindFolder(Database& database, int64_t project,
                                    absl::string_view id) {
  Query query(database, kFindFolder, IdHash(project, id), id, project);
  return ReadRow(query);
}

TreeWriter::TreeWriter(WriteBatch& batch, const Options& options,
                       FolderRow folder, FrontierRow& task)
    : batch_(batch),
      database_(batch.database()),
      options_(options),
      folder_(std::move(folder)),
      task_(task) {}

void TreeWriter::WriteFolder(const ListedFolder& listed) {
  WriteFolderUnder(folder_, listed);
}

void TreeWriter::WriteDeepFolder(const ListedFolder& listed) {
  FolderRow parent = folder_;
  std::string id(kMadeUpId.data(), kMadeUpId.size());
  for (const std::string& name : listed.folder.parent_names) {
    absl::StrAppend(&id, "\n", name);
    parent = MakeUpFolder(parent, id, name);
  }
  WriteFolderUnder(parent, listed);
}

void TreeWriter::WriteFolderUnder(const FolderRow& parent,
                                  const ListedFolder& listed) {
  const bim360::Folder& folder = listed.folder;
  std::optional<FolderRow> row =
      FindFolder(database_, folder_.project, folder.id);
  if (!row.has_value()) {
    if (parent.depth >= kMaxFolderDepth) {
      AddDefect(absl::StrCat("its folder ", folder.name, " lies deeper than ",
                             kMaxFolderDepth, " levels"));
      return;
    }
    AddFolder(parent, listed);
    return;
  }
  if (row->parent != parent.pk && LiesAbove(row->pk, parent)) {
    Run(database_, kKeepFolder, options_.backup, row->pk);
    AddDefect(absl::StrCat("it contains the folder ", folder.name,
                           ", in which it lies itself: a cycle"));
    return;
  }
  UpdateFolder(parent, *row, folder);
  PushUnlessUnchanged(*row, listed);
}

void TreeWriter::AddFolder(const FolderRow& parent,
                           const ListedFolder& listed) {
  const bim360::Folder& folder = listed.folder;
  Run(database_, kAddFolder, parent.project, parent.pk, parent.depth + 1,
      IdHash(parent.project, folder.id), folder.id, folder.name, folder.rollup,
      task_.task, 0);
  FolderRow row;
  row.pk = database_.LastInsertId();
  row.project = parent.project;
  batch_.AddTotals(row.project, /*folders=*/1, /*files=*/0, /*bytes=*/0);
  batch_.MarkChanged(row.project);
  PushUnlessUnchanged(row, listed);
}

void TreeWriter::UpdateFolder(const FolderRow& parent, const FolderRow& row,
                              const bim360::Folder& folder) {
  Run(database_, kUpdateFolder, row.pk, parent.pk, parent.depth + 1,
      folder.name, folder.rollup, task_.task);
  if (row.presence == Presence::kMissing) OpenSubtree(database_, row.pk);
  if (row.parent != parent.pk || row.name != folder.name ||
      row.presence == Presence::kGuarded) {
    batch_.MarkChanged(row.project);
  }
}

FolderRow TreeWriter::MakeUpFolder(const FolderRow& parent,
                                   const std::string& id,
                                   const std::string& name) {
  std::optional<FolderRow> row = FindFolder(database_, folder_.project, id);
  if (row.has_value()) {
    bim360::Folder folder;
    folder.name = name;
    UpdateFolder(parent, *row, folder);
  } else {
    Run(database_, kAddFolder, parent.project, parent.pk, parent.depth + 1,
        IdHash(parent.project, id), id, name, "", task_.task, kMadeUp);
    row.emplace();
    row->pk = database_.LastInsertId();
    row->project = parent.project;
    row->parent = parent.pk;
    batch_.AddTotals(row->project, /*folders=*/1, /*files=*/0, /*bytes=*/0);
    batch_.MarkChanged(row->project);
  }
  row->depth = parent.depth + 1;
  made_up_.push_back(row->pk);
  return *row;
}

void TreeWriter::PushUnlessUnchanged(const FolderRow& row,
                                     const ListedFolder& listed) {
  const std::string& rollup = listed.folder.rollup;
  if (row.task != 0) {
    // A listing that has not begun will see what this rollup tells of; one
    // that has may have been too early.
    if (!options_.is_handed_out(row.task)) {
      Run(database_, kSetTaskRollup, row.task, rollup);
    }
    return;
  }
  const bool unchanged =
      row.listed > 0 && !rollup.empty() && rollup == row.listed_rollup;
  if (unchanged && (!options_.recheck_all || listed.filtered_out)) {
    // One that a recheck has listed in this run is not skipped.
    if (!listed.filtered_out &&
        row.listed <= ReadInt(database_, 0, kReadCrawlTask, options_.backup)) {
      ++batch_.Counters(options_.backup).folders_skipped;
    }
    return;
  }
  PushTask(database_, FrontierTask::Kind::kFolder, row.project, row.pk, rollup,
           listed.filtered_out ? Blocked::kFiltered : Blocked::kOpen);
}

bool TreeWriter::LiesAbove(int64_t folder, const FolderRow& below) {
  // No chain of parents is longer than the tree is deep; a bound all the
  // same, because moves of whole subtrees do not touch depths.
  int64_t at = below.pk;
  for (int i = 0; i < 100 * kMaxFolderDepth && at != 0; ++i) {
    if (at == folder) return true;
    at = ReadInt(database_, 0, kReadParent, at);
  }
  return at != 0;
}

void TreeWriter::AddDefect(absl::string_view defect) {
  if (task_.defect.empty()) absl::StrAppend(&task_.defect, defect);
}

void TreeWriter::Finish(bool items_listed, const KeepFilter& keeps) {
  if (task_.kind == FrontierTask::Kind::kFolder) {
    ++batch_.Counters(options_.backup).folders_listed;
  }
  if (folder_.carried) batch_.MarkChanged(folder_.project);
  if (task_.defect.empty()) {
    if (items_listed) MarkMissingFiles(keeps);
    MarkMissingFolders(folder_.pk, keeps);
    for (const int64_t folder : made_up_) MarkMissingFolders(folder, keeps);
  }
  if (!task_.defect.empty() || task_.keep) {
    FinishInPart();
    return;
  }
  RemoveTask(database_, task_);
  Run(database_, kSetListed, folder_.pk, items_listed ? task_.task : 0,
      task_.rollup);
  // A root that showed its files until now: some may have moved to it.
  if (!items_listed && folder_.listed > 0) {
    Run(database_, kKeepFolder, options_.backup, folder_.pk);
  }
}

void TreeWriter::FinishInPart() {
  if (task_.defect.empty()) {
    Run(database_, kSetInPart, folder_.pk, std::optional<std::string>());
    RenewTask(database_, task_, Blocked::kFiltered);
    return;
  }
  ++batch_.Counters(options_.backup).unlisted;
  Run(database_, kSetInPart, folder_.pk, task_.defect);
  RenewTask(database_, task_, Blocked::kUnlisted);
}

void TreeWriter::MarkMissingFiles(const KeepFilter& keeps) {
  for (const int64_t file : ListUnseen(kListUnseenFiles, folder_.pk,
                                       /*folders=*/false, keeps)) {
    Run(database_, kMissFile, file);
  }
}

void TreeWriter::MarkMissingFolders(int64_t folder, const KeepFilter& keeps) {
  for (const int64_t child :
       ListUnseen(kListUnseenFolders, folder, /*folders=*/true, keeps)) {
    Run(database_, kMissFolder, child);
    BlockSubtree(database_, child);
  }
}

std::vector<int64_t> TreeWriter::ListUnseen(const char* sql, int64_t folder,
                                            bool folders,
                                            const KeepFilter& keeps) {
  std::vector<int64_t> unseen;
  Query query(database_, sql, folder, task_.task);
  while (query.Next()) {
    if (keeps && keeps(query.Bytes(1), folders)) {
      task_.keep = true;
    } else {
      unseen.push_back(query.Int(0));
    }
  }
  return unseen;
}

}  // namespace bimbackup::catalog
