#include "services/coordinator/catalog/tree_reader.h"

#include <algorithm>
#include <utility>

#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/catalog/object_writer.h"

namespace bimbackup::catalog {
namespace {

constexpr char kReadStep[] = "SELECT parent, name FROM folders WHERE pk = ?";

constexpr char kReadProjectName[] = "SELECT name FROM projects WHERE pk = ?";

constexpr char kFindProject[] = "SELECT pk FROM projects WHERE id = ?";

constexpr char kFindRoot[] = "SELECT root FROM projects WHERE pk = ?";

constexpr char kFindFolder[] = R"sql(
SELECT pk FROM folders WHERE id_hash = ?1 AND id = ?2 AND project = ?3)sql";

}  // namespace

std::vector<std::string> ReadFolderPath(Database& database, int64_t folder) {
  std::vector<std::string> path;
  int64_t at = folder;
  for (int i = 0; i < 100 * kMaxFolderDepth && at != 0; ++i) {
    Query query(database, kReadStep, at);
    if (!query.Next()) break;
    at = query.Int(0);
    // The root's name is Autodesk's own and stands in no path.
    if (at != 0) path.push_back(query.Text(1));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string ReadProjectName(Database& database, int64_t project) {
  Query query(database, kReadProjectName, project);
  return query.Next() ? query.Text(0) : "";
}

int64_t FindProject(Database& database, absl::string_view project_id) {
  return ReadInt(database, 0, kFindProject, project_id);
}

int64_t FindFolderPk(Database& database, int64_t project,
                     absl::string_view folder_id) {
  if (folder_id.empty()) return ReadInt(database, 0, kFindRoot, project);
  return ReadInt(database, 0, kFindFolder, IdHash(project, folder_id),
                 folder_id, project);
}

}  // namespace bimbackup::catalog
