// Folders that Autodesk's services keep for themselves.

#ifndef CLIENTS_BIM360_SERVICE_FOLDERS_H_
#define CLIENTS_BIM360_SERVICE_FOLDERS_H_

#include "absl/strings/string_view.h"

namespace bimbackup::bim360 {

// Whether a top folder of this name belongs to a service of Autodesk's
// (checklists, photos, issues and the like) rather than to people. Only top
// folders have such names by right: do not ask about deeper ones.
bool IsServiceFolder(absl::string_view name);

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_SERVICE_FOLDERS_H_
