#include "services/coordinator/catalog/accept_writer.h"

#include <utility>
#include <vector>

#include "services/coordinator/catalog/crawl_store.h"

namespace bimbackup::catalog {
namespace {

constexpr int kPurgeRows = 2000;

constexpr char kReadProject[] =
    "SELECT vanished, root, files, folders FROM projects WHERE pk = ?";

// Its row stays, so that it is known by name, and to be told from a new one
// when it comes back.
constexpr char kHideProject[] = R"sql(
UPDATE projects SET vanished = 2, manifest = NULL, changed = 1 WHERE pk = ?
)sql";

constexpr char kRemoveTasks[] = "DELETE FROM frontier WHERE project = ?";

constexpr char kHideRoot[] =
    "UPDATE folders SET missing = 3, task = 0 WHERE pk = ?";

constexpr char kMeasureFolders[] = R"sql(
WITH RECURSIVE below(pk) AS (
  SELECT pk FROM folders WHERE project = ? AND missing = 2
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
SELECT COUNT(*),
  (SELECT COUNT(*) FROM below b CROSS JOIN files f ON f.folder = b.pk)
FROM below)sql";

constexpr char kCountFiles[] =
    "SELECT COUNT(*) FROM files WHERE project = ? AND missing = 2";

constexpr char kHideFolders[] =
    "UPDATE folders SET missing = 3 WHERE project = ? AND missing = 2";

constexpr char kHideFiles[] =
    "UPDATE files SET missing = 3 WHERE project = ? AND missing = 2";

constexpr char kListDenied[] = R"sql(
SELECT f.pk, f.task FROM folders f JOIN frontier t ON t.task = f.task
WHERE f.project = ? AND f.denied = 1 AND t.blocked = 1)sql";

constexpr char kRemoveTask[] = "DELETE FROM frontier WHERE task = ?";

// As one that was never listed it is asked for with every listing of its
// parent. A root is so anyway, and has to remember whether it showed files.
constexpr char kAcceptDenied[] = R"sql(
UPDATE folders SET denied = 2, task = 0, listed_rollup = '',
  listed = CASE parent WHEN 0 THEN listed ELSE MIN(listed, 0) END
WHERE pk = ?)sql";

constexpr char kReadDenied[] = "SELECT denied FROM folders WHERE pk = ?";

constexpr char kListAcceptedFiles[] = R"sql(
SELECT f.pk, f.project, o.size FROM files f
LEFT JOIN objects o ON o.pk = f.object WHERE f.missing = 3 LIMIT ?)sql";

constexpr char kListFilesOf[] = R"sql(
SELECT f.pk, f.project, o.size FROM files f
LEFT JOIN objects o ON o.pk = f.object WHERE f.folder = ?2 LIMIT ?1)sql";

constexpr char kRemoveFile[] = "DELETE FROM files WHERE pk = ?";

constexpr char kFindAcceptedFolder[] =
    "SELECT pk FROM folders WHERE missing = 3 LIMIT 1";

constexpr char kFindChild[] = "SELECT pk FROM folders WHERE parent = ? LIMIT 1";

constexpr char kReadFolder[] =
    "SELECT project, parent, task FROM folders WHERE pk = ?";

constexpr char kRemoveFolder[] = "DELETE FROM folders WHERE pk = ?";

constexpr char kResetRoot[] = R"sql(
UPDATE folders SET missing = 0, listed = 0, rollup = '', listed_rollup = '',
  seen = 0, task = 0, unlisted = NULL, in_part = 0, denied = 0, kept_by = 0
WHERE pk = ?)sql";

struct FileRow {
  int64_t pk = 0;
  int64_t project = 0;
  int64_t bytes = 0;
};

template <typename... Values>
int PurgeFiles(WriteBatch& batch, const char* sql, const Values&... values) {
  std::vector<FileRow> files;
  {
    Query query(batch.database(), sql, values...);
    while (query.Next()) {
      files.push_back({query.Int(0), query.Int(1), query.Int(2)});
    }
  }
  for (const FileRow& file : files) {
    Run(batch.database(), kRemoveFile, file.pk);
    batch.AddTotals(file.project, /*folders=*/0, /*files=*/-1, -file.bytes);
  }
  return static_cast<int>(files.size());
}

void RemoveFolder(WriteBatch& batch, int64_t folder) {
  Database& database = batch.database();
  int64_t project = 0;
  int64_t parent = 0;
  int64_t task = 0;
  {
    Query query(database, kReadFolder, folder);
    if (!query.Next()) return;
    project = query.Int(0);
    parent = query.Int(1);
    task = query.Int(2);
  }
  if (task != 0) Run(database, kRemoveTask, task);
  if (parent == 0) {
    Run(database, kResetRoot, folder);
    return;
  }
  Run(database, kRemoveFolder, folder);
  batch.AddTotals(project, /*folders=*/-1, /*files=*/0, /*bytes=*/0);
}

// From the leaves up, so that what is left still hangs together.
int PurgeTree(WriteBatch& batch, int64_t root, int limit) {
  int64_t at = root;
  for (int i = 0; i < 100 * kMaxFolderDepth; ++i) {
    const int64_t child = ReadInt(batch.database(), 0, kFindChild, at);
    if (child == 0) break;
    at = child;
  }
  const int removed = PurgeFiles(batch, kListFilesOf, limit, at);
  if (removed == limit) return removed;
  RemoveFolder(batch, at);
  return removed + 1;
}

Accepted AcceptProject(WriteBatch& batch, int64_t project, int64_t root,
                       int64_t files, int64_t folders) {
  Run(batch.database(), kHideProject, project);
  Run(batch.database(), kRemoveTasks, project);
  Run(batch.database(), kHideRoot, root);
  return {.files = files, .folders = folders, .projects = 1};
}

}  // namespace

Accepted AcceptDeletionsOf(WriteBatch& batch, int64_t project) {
  Database& database = batch.database();
  bool vanished = false;
  int64_t root = 0;
  int64_t files = 0;
  int64_t folders = 0;
  {
    Query query(database, kReadProject, project);
    if (!query.Next() || query.Int(0) == 2) return {};
    vanished = query.Int(0) == 1;
    root = query.Int(1);
    files = query.Int(2);
    folders = query.Int(3);
  }
  if (vanished) return AcceptProject(batch, project, root, files, folders);
  Accepted accepted;
  {
    Query query(database, kMeasureFolders, project);
    if (query.Next()) {
      accepted.folders = query.Int(0);
      accepted.files = query.Int(1);
    }
  }
  accepted.files += ReadInt(database, 0, kCountFiles, project);
  if (accepted.files + accepted.folders == 0) return accepted;
  accepted.projects = 1;
  Run(database, kHideFolders, project);
  Run(database, kHideFiles, project);
  batch.MarkChanged(project);
  return accepted;
}

Accepted AcceptDeniedOf(WriteBatch& batch, int64_t project) {
  Database& database = batch.database();
  std::vector<std::pair<int64_t, int64_t>> denied;
  {
    Query query(database, kListDenied, project);
    while (query.Next()) denied.emplace_back(query.Int(0), query.Int(1));
  }
  for (const auto& [folder, task] : denied) {
    Run(database, kRemoveTask, task);
    Run(database, kAcceptDenied, folder);
  }
  Accepted accepted;
  accepted.folders = static_cast<int64_t>(denied.size());
  accepted.projects = denied.empty() ? 0 : 1;
  return accepted;
}

bool IsDenialAccepted(Database& database, int64_t folder) {
  return ReadInt(database, 0, kReadDenied, folder) == 2;
}

bool PurgeSome(WriteBatch& batch) {
  int left = kPurgeRows;
  left -= PurgeFiles(batch, kListAcceptedFiles, left);
  while (left > 0) {
    const int64_t root = ReadInt(batch.database(), 0, kFindAcceptedFolder);
    if (root == 0) return false;
    left -= PurgeTree(batch, root, left);
  }
  return true;
}

}  // namespace bimbackup::catalog
