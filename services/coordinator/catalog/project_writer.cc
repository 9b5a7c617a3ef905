#include "services/coordinator/catalog/project_writer.h"

#include <string>
#include <vector>

#include "services/coordinator/catalog/frontier_writer.h"
#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFindProject[] = R"sql(
SELECT p.pk, p.name, p.vanished, p.root, f.id, f.task
FROM projects p JOIN folders f ON f.pk = p.root WHERE p.id = ?)sql";

constexpr char kAddProject[] =
    "INSERT INTO projects(id, name, kind, seen) VALUES(?, ?, ?, ?)";

constexpr char kAddRoot[] = R"sql(
INSERT INTO folders(project, parent, depth, id_hash, id, name)
VALUES(?, 0, 0, ?, ?, ''))sql";

constexpr char kSetRoot[] = "UPDATE projects SET root = ? WHERE pk = ?";

constexpr char kSetRootId[] =
    "UPDATE folders SET id_hash = ?, id = ? WHERE pk = ?";

constexpr char kUpdateProject[] = R"sql(
UPDATE projects SET name = ?2, kind = ?3, seen = ?4, vanished = 0
WHERE pk = ?1)sql";

constexpr char kCountSeen[] = "SELECT COUNT(*) FROM projects WHERE seen = ?";

constexpr char kListUnseen[] =
    "SELECT pk FROM projects WHERE seen <> ? AND vanished = 0";

constexpr char kSetVanished[] = "UPDATE projects SET vanished = 1 WHERE pk = ?";

constexpr char kBlockProject[] =
    "UPDATE frontier SET blocked = 3 WHERE project = ?";

constexpr char kOpenProject[] =
    "UPDATE frontier SET blocked = 0 WHERE project = ? AND blocked = 3";

// A row of `projects` with its root.
struct ProjectRow {
  int64_t pk = 0;
  std::string name;
  bool vanished = false;
  int64_t root = 0;
  std::string root_id;
  int64_t root_task = 0;
};

ProjectRow AddProject(WriteBatch& batch, int64_t task,
                      const bim360::Project& project) {
  Database& database = batch.database();
  ProjectRow row;
  Run(database, kAddProject, project.id, project.name, project.kind, task);
  row.pk = database.LastInsertId();
  Run(database, kAddRoot, row.pk, IdHash(row.pk, project.root_folder_id),
      project.root_folder_id);
  row.root = database.LastInsertId();
  Run(database, kSetRoot, row.root, row.pk);
  batch.MarkChanged(row.pk);
  return row;
}

void UpdateProject(WriteBatch& batch, int64_t task, const ProjectRow& row,
                   const bim360::Project& project) {
  Database& database = batch.database();
  Run(database, kUpdateProject, row.pk, project.name, project.kind, task);
  if (!project.root_folder_id.empty() &&
      row.root_id != project.root_folder_id) {
    Run(database, kSetRootId, IdHash(row.pk, project.root_folder_id),
        project.root_folder_id, row.root);
  }
  if (row.vanished) Run(database, kOpenProject, row.pk);
  if (row.vanished || row.name != project.name) batch.MarkChanged(row.pk);
}

}  // namespace

void WriteProject(WriteBatch& batch, int64_t task,
                  const bim360::Project& project, bool wanted) {
  Database& database = batch.database();
  ProjectRow row;
  {
    Query query(database, kFindProject, project.id);
    if (query.Next()) {
      row = {query.Int(0), query.Text(1), query.Int(2) != 0,
             query.Int(3), query.Text(4), query.Int(5)};
    }
  }
  if (row.pk == 0) {
    row = AddProject(batch, task, project);
  } else {
    UpdateProject(batch, task, row, project);
  }
  if (wanted && row.root_task == 0) {
    PushTask(database, FrontierTask::Kind::kTopFolders, row.pk, row.root,
             /*rollup=*/"", Blocked::kOpen);
  }
}

void MarkVanishedProjects(WriteBatch& batch, int64_t task) {
  Database& database = batch.database();
  if (ReadInt(database, 0, kCountSeen, task) == 0) return;
  std::vector<int64_t> unseen;
  {
    Query query(database, kListUnseen, task);
    while (query.Next()) unseen.push_back(query.Int(0));
  }
  for (const int64_t project : unseen) {
    Run(database, kSetVanished, project);
    Run(database, kBlockProject, project);
    batch.MarkChanged(project);
  }
}

}  // namespace bimbackup::catalog
