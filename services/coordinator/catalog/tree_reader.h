// Reads of the account tree that several stores need.

#ifndef SERVICES_COORDINATOR_CATALOG_TREE_READER_H_
#define SERVICES_COORDINATOR_CATALOG_TREE_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// Names from the project's root down to and with the folder; empty for the
// root and for an unknown folder.
std::vector<std::string> ReadFolderPath(Database& database, int64_t folder);

std::string ReadProjectName(Database& database, int64_t project);

// The row of a project's id; 0 where it is not known.
int64_t FindProject(Database& database, absl::string_view project_id);

// The row of a folder, or of the project's root for an empty id; 0 where it
// is not known.
int64_t FindFolderPk(Database& database, int64_t project,
                     absl::string_view folder_id);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TREE_READER_H_
