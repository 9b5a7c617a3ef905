#include "services/coordinator/catalog/frontier_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFind[] = R"sql(
SELECT kind, project, folder, rollup, page_number, defect, keep, times_blocked
FROM frontier WHERE task = ?)sql";

constexpr char kPush[] = R"sql(
INSERT INTO frontier(kind, project, folder, rollup, blocked, times_blocked)
VALUES(?, ?, ?, ?, ?, ?))sql";

constexpr char kAdvance[] = R"sql(
UPDATE frontier SET page_url = ?2, page_number = page_number + 1,
  defect = ?3, keep = ?4
WHERE task = ?1)sql";

constexpr char kDelete[] = "DELETE FROM frontier WHERE task = ?";

constexpr char kSetFolderTask[] = "UPDATE folders SET task = ? WHERE pk = ?";

// The folders of the subtree are looked up by parent, from the top down.
constexpr char kSetSubtreeBlocked[] = R"sql(
WITH RECURSIVE below(pk, task) AS (
  SELECT pk, task FROM folders WHERE pk = ?1
  UNION
  SELECT f.pk, f.task FROM folders f JOIN below b ON f.parent = b.pk)
UPDATE frontier SET blocked = ?2, times_blocked = 0
WHERE task IN (SELECT task FROM below WHERE task <> 0))sql";

int64_t Insert(Database& database, const FrontierRow& row, Blocked blocked) {
  Run(database, kPush, row.kind, row.project, row.folder, row.rollup, blocked,
      row.times_blocked);
  const int64_t task = database.LastInsertId();
  if (row.folder != 0) Run(database, kSetFolderTask, task, row.folder);
  return task;
}

}  // namespace

std::optional<FrontierRow> FindTask(Database& database, int64_t task) {
  Query query(database, kFind, task);
  if (!query.Next()) return std::nullopt;
  FrontierRow row;
  row.task = task;
  row.kind = static_cast<FrontierTask::Kind>(query.Int(0));
  row.project = query.Int(1);
  row.folder = query.Int(2);
  row.rollup = query.Text(3);
  row.page_number = query.Int(4);
  row.defect = query.Text(5);
  row.keep = query.Int(6) != 0;
  row.times_blocked = query.Int(7);
  return row;
}

int64_t PushTask(Database& database, FrontierTask::Kind kind, int64_t project,
                 int64_t folder, absl::string_view rollup, Blocked blocked) {
  FrontierRow row;
  row.kind = kind;
  row.project = project;
  row.folder = folder;
  row.rollup = std::string(rollup.data(), rollup.size());
  row.times_blocked = blocked == Blocked::kOpen ? 0 : 1;
  return Insert(database, row, blocked);
}

void AdvanceTask(Database& database, const FrontierRow& row,
                 absl::string_view page_url) {
  Run(database, kAdvance, row.task, page_url, row.defect, row.keep);
}

void RenewTask(Database& database, const FrontierRow& row, Blocked blocked) {
  Run(database, kDelete, row.task);
  FrontierRow renewed = row;
  if (blocked != Blocked::kOpen) ++renewed.times_blocked;
  Insert(database, renewed, blocked);
}

void RemoveTask(Database& database, const FrontierRow& row) {
  Run(database, kDelete, row.task);
  if (row.folder != 0) Run(database, kSetFolderTask, 0, row.folder);
}

void BlockSubtree(Database& database, int64_t folder) {
  Run(database, kSetSubtreeBlocked, folder, Blocked::kGone);
}

void OpenSubtree(Database& database, int64_t folder) {
  Run(database, kSetSubtreeBlocked, folder, Blocked::kOpen);
}

}  // namespace bimbackup::catalog
