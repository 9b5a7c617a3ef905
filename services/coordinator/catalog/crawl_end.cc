#include "services/coordinator/catalog/crawl_end.h"

#include <vector>

#include "services/coordinator/catalog/frontier_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kListOpenProjects[] = R"sql(
SELECT DISTINCT project FROM frontier WHERE blocked = 0 AND project <> 0)sql";

constexpr char kNameOpen[] = R"sql(
UPDATE folders SET unlisted = ?1, in_part = 0,
  denied = CASE denied WHEN 1 THEN 0 ELSE denied END
WHERE pk IN (SELECT folder FROM frontier WHERE blocked = 0))sql";

constexpr char kBlockOpen[] = R"sql(
UPDATE frontier SET blocked = 1, times_blocked = times_blocked + 1
WHERE blocked = 0)sql";

constexpr char kListKept[] =
    "SELECT pk FROM folders WHERE missing = 1 AND kept_by = ?";

constexpr char kSetPresent[] = "UPDATE folders SET missing = 0 WHERE pk = ?";

constexpr char kListProjects[] = R"sql(
SELECT project FROM folders WHERE missing = 1
UNION SELECT project FROM files WHERE missing = 1)sql";

constexpr char kClearGone[] = "DELETE FROM gone";

// Missing folders of a project with everything below them. Joins with `gone`
// start from it: CROSS JOIN keeps SQLite from reading all files instead.
constexpr char kFindGone[] = R"sql(
INSERT INTO gone
WITH RECURSIVE below(pk) AS (
  SELECT pk FROM folders WHERE project = ?1 AND missing = 1
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
SELECT pk FROM below)sql";

constexpr char kFindGuarded[] = R"sql(
INSERT INTO gone
WITH RECURSIVE below(pk) AS (
  SELECT pk FROM folders WHERE missing = 2
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
SELECT pk FROM below)sql";

// What is missing may lie where this backup did not look. A folder that could
// not be listed counts every time; one outside a backup's filter only the
// first: a filter that stands must not hold deletions up for ever.
constexpr char kIsIncomplete[] = R"sql(
SELECT 1 FROM frontier
WHERE project = ?1 AND folder NOT IN gone
  AND (blocked <= 1 OR blocked = 2 AND times_blocked <= 1)
UNION ALL
SELECT 1 FROM projects p JOIN folders r ON r.pk = p.root
WHERE p.pk = ?1 AND r.kept_by = ?2
LIMIT 1)sql";

// Folders that still stand, of which nothing else does.
constexpr char kListEmptied[] = R"sql(
WITH losers(pk) AS (
  SELECT parent FROM folders WHERE project = ?1 AND missing = 1
  UNION
  SELECT folder FROM files WHERE project = ?1 AND missing = 1)
SELECT pk FROM losers
WHERE pk NOT IN gone
  AND NOT EXISTS(SELECT 1 FROM files WHERE folder = losers.pk AND missing = 0)
  AND NOT EXISTS(
    SELECT 1 FROM folders WHERE parent = losers.pk AND missing = 0))sql";

// Up to one more than would be believed to be gone.
constexpr char kCountLost[] = R"sql(
WITH RECURSIVE below(pk) AS (
  SELECT pk FROM folders WHERE parent = ?1 AND missing = 1
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
SELECT COUNT(*) FROM (
  SELECT pk FROM files WHERE folder = ?1 AND missing = 1
  UNION ALL
  SELECT f.pk FROM below b CROSS JOIN files f ON f.folder = b.pk
  LIMIT ?2))sql";

constexpr char kGuardFilesOf[] =
    "UPDATE files SET missing = 2 WHERE folder = ? AND missing = 1";

constexpr char kGuardFoldersOf[] =
    "UPDATE folders SET missing = 2 WHERE parent = ? AND missing = 1";

constexpr char kMeasureGoneFolders[] = R"sql(
SELECT COUNT(*), TOTAL(o.size) FROM gone g CROSS JOIN files f ON f.folder = g.pk
LEFT JOIN objects o ON o.pk = f.object)sql";

constexpr char kMeasureGoneFiles[] = R"sql(
SELECT COUNT(*), TOTAL(o.size) FROM files f
LEFT JOIN objects o ON o.pk = f.object
WHERE f.project = ? AND f.missing = 1 AND f.folder NOT IN gone)sql";

constexpr char kCountGone[] = "SELECT COUNT(*) FROM gone";

constexpr char kCountFiles[] = "SELECT files FROM projects WHERE pk = ?";

constexpr char kRemoveGoneTasks[] = R"sql(
DELETE FROM frontier WHERE task IN (
  SELECT f.task FROM gone g CROSS JOIN folders f ON f.pk = g.pk
  WHERE f.task <> 0)
)sql";

constexpr char kRemoveGoneContent[] =
    "DELETE FROM files WHERE folder IN (SELECT pk FROM gone)";

constexpr char kRemoveFiles[] =
    "DELETE FROM files WHERE project = ? AND missing = 1";

constexpr char kRemoveGoneFolders[] =
    "DELETE FROM folders WHERE pk IN (SELECT pk FROM gone)";

constexpr char kGuardFiles[] =
    "UPDATE files SET missing = 2 WHERE project = ? AND missing = 1";

constexpr char kGuardFolders[] =
    "UPDATE folders SET missing = 2 WHERE project = ? AND missing = 1";

// Should they turn up again, they are listed from the top down: nothing else
// remembers which of them the frontier held.
constexpr char kForgetListings[] = R"sql(
UPDATE folders SET listed = MIN(listed, 0), listed_rollup = '', task = 0,
  unlisted = NULL, in_part = 0, denied = 0
WHERE pk IN (SELECT pk FROM gone))sql";

constexpr char kForgetListingsBelow[] = R"sql(
WITH RECURSIVE below(pk) AS (
  SELECT pk FROM folders WHERE parent = ? AND missing = 2
  UNION
  SELECT f.pk FROM folders f JOIN below b ON f.parent = b.pk)
UPDATE folders SET listed = MIN(listed, 0), listed_rollup = '', task = 0,
  unlisted = NULL, in_part = 0, denied = 0
WHERE pk IN (SELECT pk FROM below))sql";

constexpr char kCountAtEnd[] = R"sql(
UPDATE backups SET
  unlisted = (SELECT COUNT(*) FROM folders f JOIN frontier t ON t.task = f.task
              WHERE f.unlisted IS NOT NULL AND t.blocked = 1),
  denied = (SELECT COUNT(*) FROM folders f JOIN frontier t ON t.task = f.task
            WHERE f.denied = 1 AND t.blocked = 1),
  folders_skipped = MAX(0, ?2 - folders_listed
    - (SELECT COUNT(*) FROM frontier WHERE kind = 2)),
  guarded = (SELECT COUNT(*) FROM gone)
    + (SELECT COUNT(*) FROM gone g CROSS JOIN files f ON f.folder = g.pk)
    + (SELECT COUNT(*) FROM files WHERE missing = 2 AND folder NOT IN gone)
    + (SELECT COUNT(*) + TOTAL(files) + TOTAL(folders) FROM projects
       WHERE vanished = 1),
  crawl_ended = 1
WHERE number = ?1)sql";

constexpr char kCountFolders[] = "SELECT SUM(folders) FROM projects";

template <typename... Values>
std::vector<int64_t> ReadInts(Database& database, const char* sql,
                              const Values&... given) {
  std::vector<int64_t> values;
  Query query(database, sql, given...);
  while (query.Next()) values.push_back(query.Int(0));
  return values;
}

struct Measure {
  int64_t files = 0;
  int64_t bytes = 0;
};

template <typename... Values>
Measure ReadMeasure(Database& database, const char* sql,
                    const Values&... values) {
  Query query(database, sql, values...);
  if (!query.Next()) return {};
  return {query.Int(0), query.Int(1)};
}

// An empty page may be a listing that went wrong: a folder that stands, but
// lost all of many files at once, is not believed to be empty.
void GuardEmptied(Database& database, int64_t project) {
  for (const int64_t folder : ReadInts(database, kListEmptied, project)) {
    if (ReadInt(database, 0, kCountLost, folder, kGuardedFiles + 1) <=
        kGuardedFiles) {
      continue;
    }
    Run(database, kGuardFilesOf, folder);
    Run(database, kGuardFoldersOf, folder);
    Run(database, kForgetListingsBelow, folder);
  }
  Run(database, kClearGone);
  Run(database, kFindGone, project);
}

// `gone` holds the project's missing folders and what is below them.
void SettleProject(WriteBatch& batch, int64_t project) {
  Database& database = batch.database();
  Measure below = ReadMeasure(database, kMeasureGoneFolders);
  Measure beside = ReadMeasure(database, kMeasureGoneFiles, project);
  int64_t files = below.files + beside.files;
  const int64_t all = ReadInt(database, 0, kCountFiles, project);
  batch.MarkChanged(project);
  Run(database, kRemoveGoneTasks);
  if (files > kGuardedFiles && files * 100 > all * kGuardedPercent) {
    Run(database, kGuardFiles, project);
    Run(database, kGuardFolders, project);
    Run(database, kForgetListings);
    return;
  }
  if (files > kGuardedFiles) {
    GuardEmptied(database, project);
    below = ReadMeasure(database, kMeasureGoneFolders);
    beside = ReadMeasure(database, kMeasureGoneFiles, project);
    files = below.files + beside.files;
  }
  const int64_t folders = ReadInt(database, 0, kCountGone);
  Run(database, kRemoveGoneContent);
  Run(database, kRemoveFiles, project);
  Run(database, kRemoveGoneFolders);
  batch.AddTotals(project, -folders, -files, -(below.bytes + beside.bytes));
}

}  // namespace

void CloseFrontier(WriteBatch& batch, absl::string_view reason) {
  Database& database = batch.database();
  for (const int64_t project : ReadInts(database, kListOpenProjects)) {
    batch.MarkChanged(project);
  }
  Run(database, kNameOpen, reason);
  Run(database, kBlockOpen);
}

void SettleMissing(WriteBatch& batch, BackupNumber backup) {
  Database& database = batch.database();
  {
    std::vector<int64_t> kept;
    Query query(database, kListKept, backup);
    while (query.Next()) kept.push_back(query.Int(0));
    for (const int64_t folder : kept) {
      Run(database, kSetPresent, folder);
      OpenSubtree(database, folder);
    }
  }
  for (const int64_t project : ReadInts(database, kListProjects)) {
    Run(database, kClearGone);
    Run(database, kFindGone, project);
    if (ReadInt(database, 0, kIsIncomplete, project, backup) == 0) {
      SettleProject(batch, project);
    }
  }
}

void CountAtEnd(WriteBatch& batch, BackupNumber backup) {
  Database& database = batch.database();
  batch.Flush();
  Run(database, kClearGone);
  Run(database, kFindGuarded);
  Run(database, kCountAtEnd, backup, ReadInt(database, 0, kCountFolders));
}

}  // namespace bimbackup::catalog
