#include "clients/bim360/service_folders.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace bimbackup::bim360 {
namespace {

// Parts of names, as Autodesk's own bulk download tool leaves them out.
constexpr const char* kServiceParts[] = {
    "checklist_",       "submittals-attachments",
    "Photos",           "ProjectTb",
    "dailylog_",        "issue_",
    "issues_",          "correspondence-project",
    "meetings-project", "COST Root Folder",
    "Recycle Bin",
};

// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".
bool IsGuid(absl::string_view name) {
  if (name.size() != 36) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? name[i] != '-' : !absl::ascii_isxdigit(name[i])) return false;
  }
  return true;
}

}  // namespace

bool IsServiceFolder(absl::string_view name) {
  for (const char* part : kServiceParts) {
    if (absl::StrContains(name, part)) return true;
  }
  return IsGuid(name);
}

}  // namespace bimbackup::bim360
