#include "clients/bim360/answers.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/bim360/json.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

// A version's place in `included`, by its id. Keys point into the document.
using Versions = std::unordered_map<std::string, JsonValue>;

absl::StatusOr<simdjson::dom::array> DataOf(const JsonDocument& document) {
  const auto data = FindArray(document.root(), {"data"});
  if (!data) return absl::DataLossError("the answer has no list of data");
  return *data;
}

// `links.next`: an object with an href, or just a string.
absl::StatusOr<std::string> NextLink(const JsonDocument& document) {
  const auto next = Find(document.root(), {"links", "next"});
  if (!next) return "";
  if (next->is_string()) return FindString(*next, {});
  if (next->is_object()) {
    const auto href = Find(*next, {"href"});
    if (!href) return "";
    if (href->is_string()) return FindString(*href, {});
  }
  return absl::DataLossError("the answer's next link is unreadable");
}

std::vector<std::string> ParentNames(JsonValue folder) {
  const auto parents =
      FindArray(folder, {"attributes", "extension", "data", "folderParents"});
  std::vector<std::string> names;
  if (!parents) return names;
  // From the parent that is nobody's parent up to the project's root.
  std::unordered_map<std::string, JsonValue> by_urn;
  std::unordered_map<std::string, bool> has_child;
  for (const JsonValue parent : *parents) {
    by_urn.emplace(FindString(parent, {"urn"}), parent);
    has_child[FindString(parent, {"parentUrn"})] = true;
  }
  std::string urn;
  for (const auto& [candidate, parent] : by_urn) {
    if (!has_child.contains(candidate)) urn = candidate;
  }
  while (names.size() < by_urn.size()) {
    const auto parent = by_urn.find(urn);
    if (parent == by_urn.end() || FindBool(parent->second, {"isRoot"})) break;
    names.insert(names.begin(), FindString(parent->second, {"title"}));
    urn = FindString(parent->second, {"parentUrn"});
  }
  return names;
}

std::string FirstOf(std::string preferred, std::string otherwise) {
  return preferred.empty() ? std::move(otherwise) : std::move(preferred);
}

void AddFolder(JsonValue entry, FolderPage& page) {
  Folder folder;
  folder.id = FindString(entry, {"id"});
  folder.name = FirstOf(FindString(entry, {"attributes", "name"}),
                        FindString(entry, {"attributes", "displayName"}));
  folder.rollup = FindString(entry, {"attributes", "lastModifiedTimeRollup"});
  folder.folder_type =
      FindString(entry, {"attributes", "extension", "data", "folderType"});
  folder.hidden = FindBool(entry, {"attributes", "hidden"});
  folder.parent_names = ParentNames(entry);
  if (folder.id.empty() || folder.name.empty()) {
    page.defects.push_back(absl::StrCat("folder '", folder.id, "' called '",
                                        folder.name,
                                        "' lacks its id or its name"));
    return;
  }
  page.folders.push_back(std::move(folder));
}

void ReadVersion(JsonValue version, Item& item,
                 std::vector<std::string>& defects) {
  item.version_id = FindString(version, {"id"});
  item.version_type = FindString(version, {"attributes", "extension", "type"});
  // A deleted item's tip is called by a GUID.
  const bool deleted = item.version_type == "versions:autodesk.core:Deleted";
  item.name = FirstOf(
      deleted ? FindString(version,
                           {"attributes", "extension", "data", "originalName"})
              : "",
      FirstOf(FindString(version, {"attributes", "name"}), item.name));
  std::optional<int64_t> number;
  if (FindSize(version, {"attributes", "versionNumber"}, number).ok() &&
      number.value_or(0) <= INT32_MAX) {
    item.version_number = static_cast<int>(number.value_or(0));
  }
  const absl::Status size =
      FindSize(version, {"attributes", "storageSize"}, item.size);
  if (!size.ok()) {
    defects.push_back(absl::StrCat("item '", item.item_id, "' called '",
                                   item.name, "': ", size.message()));
  }
  item.storage_urn =
      FindString(version, {"relationships", "storage", "data", "id"});
  item.last_modified =
      ParseTimestamp(FindString(version, {"attributes", "lastModifiedTime"}));
}

void AddItem(JsonValue entry, const Versions& versions, FolderPage& page) {
  Item item;
  item.item_id = FindString(entry, {"id"});
  item.name = FindString(entry, {"attributes", "displayName"});
  item.hidden = FindBool(entry, {"attributes", "hidden"});
  item.item_type = FindString(entry, {"attributes", "extension", "type"});
  const std::string tip =
      FindString(entry, {"relationships", "tip", "data", "id"});
  const auto version = versions.find(tip);
  const auto defect = [&](absl::string_view what) {
    page.defects.push_back(absl::StrCat("item '", item.item_id, "' called '",
                                        item.name, "' ", what));
  };
  if (!tip.empty() && version == versions.end()) {
    return defect("comes without its tip version");
  }
  std::vector<std::string> defects;
  if (!tip.empty()) ReadVersion(version->second, item, defects);
  if (item.item_id.empty() || item.name.empty()) {
    return defect("lacks its id or its name");
  }
  for (std::string& line : defects) page.defects.push_back(std::move(line));
  page.items.push_back(std::move(item));
}

Versions IncludedVersions(const JsonDocument& document) {
  Versions versions;
  const auto included = FindArray(document.root(), {"included"});
  if (!included) return versions;
  for (const JsonValue version : *included) {
    if (FindString(version, {"type"}) == "versions") {
      versions.emplace(FindString(version, {"id"}), version);
    }
  }
  return versions;
}

}  // namespace

absl::StatusOr<HubList> ParseHubs(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  ABSL_ASSIGN_OR_RETURN(const auto data, DataOf(document));
  HubList list;
  for (const JsonValue entry : data) {
    Hub hub;
    hub.id = FindString(entry, {"id"});
    hub.name = FindString(entry, {"attributes", "name"});
    hub.region = FindString(entry, {"attributes", "region"});
    hub.type = FindString(entry, {"attributes", "extension", "type"});
    if (!hub.id.empty()) list.hubs.push_back(std::move(hub));
  }
  const auto warnings = FindArray(document.root(), {"meta", "warnings"});
  if (!warnings) return list;
  for (const JsonValue entry : *warnings) {
    list.warnings.push_back({FindString(entry, {"HttpStatusCode"}),
                             FindString(entry, {"ErrorCode"}),
                             FindString(entry, {"Title"}),
                             FindString(entry, {"Detail"})});
  }
  return list;
}

absl::StatusOr<ProjectPage> ParseProjects(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  ABSL_ASSIGN_OR_RETURN(const auto data, DataOf(document));
  ProjectPage page;
  ABSL_ASSIGN_OR_RETURN(page.next_page_url, NextLink(document));
  for (const JsonValue entry : data) {
    Project project;
    project.id = FindString(entry, {"id"});
    project.name = FindString(entry, {"attributes", "name"});
    project.kind =
        FindString(entry, {"attributes", "extension", "data", "projectType"});
    project.root_folder_id =
        FindString(entry, {"relationships", "rootFolder", "data", "id"});
    if (project.id.empty() || project.name.empty()) {
      page.defects.push_back(absl::StrCat("project '", project.id, "' called '",
                                          project.name,
                                          "' lacks its id or its name"));
      continue;
    }
    page.projects.push_back(std::move(project));
  }
  return page;
}

absl::StatusOr<FolderPage> ParseFolderPage(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  ABSL_ASSIGN_OR_RETURN(const auto data, DataOf(document));
  FolderPage page;
  ABSL_ASSIGN_OR_RETURN(page.next_page_url, NextLink(document));
  const Versions versions = IncludedVersions(document);
  for (const JsonValue entry : data) {
    const std::string type = FindString(entry, {"type"});
    if (type == "folders") {
      AddFolder(entry, page);
    } else if (type == "items") {
      AddItem(entry, versions, page);
    } else {
      page.defects.push_back(absl::StrCat("entry '", FindString(entry, {"id"}),
                                          "' is of the unknown type '", type,
                                          "'"));
    }
  }
  return page;
}

absl::Time ParseTimestamp(absl::string_view text) {
  absl::Time time;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return time;
  // Without an offset, as older answers have it.
  if (absl::ParseTime("%Y-%m-%d%ET%H:%M:%E*S", text, &time, nullptr)) {
    return time;
  }
  return absl::InfinitePast();
}

}  // namespace bimbackup::bim360
