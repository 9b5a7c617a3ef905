#include "clients/bim360/answers.h"

#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/civil_time.h"
#include "clients/bim360/json.h"
#include "services/common/excerpt.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360 {
namespace {

// A version's place in `included`, by its id. Keys point into the document.
using Versions = std::unordered_map<std::string_view, JsonValue>;

// Reads an entry's strings, and remembers what is wrong with them.
class Entry {
 public:
  explicit Entry(JsonValue value) : value_(value) {}

  std::string Name(JsonPath path) { return Bounded(path, kMaxNameBytes); }
  std::string Id(JsonPath path) { return Bounded(path, kMaxIdBytes); }

  // The first string that was too long, in words; empty where none was.
  const std::string& problem() const { return problem_; }

 private:
  std::string Bounded(JsonPath path, size_t max_bytes) {
    std::string text(FindText(value_, path));
    if (text.size() > max_bytes && problem_.empty()) {
      problem_ =
          absl::StrCat("has a field ", *std::prev(path.end()), " of ",
                       text.size(), " bytes, over the limit of ", max_bytes);
    }
    return text;
  }

  const JsonValue value_;
  std::string problem_;
};

// "item 'urn:...' called 'Plan.pdf' lacks its id".
std::string Defect(absl::string_view kind, absl::string_view id,
                   absl::string_view name, absl::string_view what) {
  return absl::StrCat(kind, " '", Excerpt(id), "' called '", Excerpt(name),
                      "' ", what);
}

// The array at `path`, where there is one.
absl::StatusOr<simdjson::dom::array> BoundedArray(JsonValue value,
                                                  JsonPath path) {
  const auto array = FindArray(value, path);
  size_t size = 0;
  // An array's own size() is capped.
  for ([[maybe_unused]] const JsonValue entry : *array) ++size;
  if (size <= kMaxEntries) return *array;
  return absl::DataLossError(
      absl::StrCat("the answer's ", *std::prev(path.end()), " has ", size,
                   " entries, over the limit of ", kMaxEntries));
}

absl::StatusOr<simdjson::dom::array> DataOf(const JsonDocument& document) {
  if (!FindArray(document.root(), {"data"})) {
    return absl::DataLossError("the answer has no list of data");
  }
  return BoundedArray(document.root(), {"data"});
}

absl::StatusOr<std::string> BoundedLink(std::string link) {
  if (link.size() <= kMaxUrlBytes) return link;
  return absl::DataLossError(
      absl::StrCat("the answer's next link has ", link.size(),
                   " bytes, over the limit of ", kMaxUrlBytes));
}

// `links.next`: an object with an href, or just a string.
absl::StatusOr<std::string> NextLink(const JsonDocument& document) {
  const auto next = Find(document.root(), {"links", "next"});
  if (!next) return "";
  if (next->is_string()) return BoundedLink(FindString(*next, {}));
  if (next->is_object()) {
    const auto href = Find(*next, {"href"});
    if (!href) return "";
    if (href->is_string()) return BoundedLink(FindString(*href, {}));
  }
  return absl::DataLossError("the answer's next link is unreadable");
}

// Fills Folder::parent_names; returns what is wrong with them.
std::string ReadParentNames(JsonValue folder, std::vector<std::string>& names) {
  const auto parents =
      FindArray(folder, {"attributes", "extension", "data", "folderParents"});
  if (!parents) return "";
  // From the parent that is nobody's parent up to the project's root.
  std::unordered_map<std::string, JsonValue> by_urn;
  std::unordered_map<std::string, bool> has_child;
  size_t count = 0;
  for (const JsonValue parent : *parents) {
    if (++count > kMaxParents) {
      return absl::StrCat("lies below more than ", kMaxParents, " folders");
    }
    by_urn.emplace(FindString(parent, {"urn"}), parent);
    has_child[FindString(parent, {"parentUrn"})] = true;
  }
  std::string urn;
  for (const auto& [candidate, parent] : by_urn) {
    if (!has_child.contains(candidate)) urn = candidate;
  }
  while (names.size() < by_urn.size()) {
    const auto found = by_urn.find(urn);
    if (found == by_urn.end() || FindBool(found->second, {"isRoot"})) break;
    Entry parent(found->second);
    names.insert(names.begin(), parent.Name({"title"}));
    if (!parent.problem().empty()) return parent.problem();
    urn = FindString(found->second, {"parentUrn"});
  }
  return "";
}

// Takes a number of `digits` digits and what stands behind it off `text`.
bool TakeNumber(absl::string_view& text, size_t digits,
                absl::string_view behind, int& number) {
  number = 0;
  if (text.size() < digits) return false;
  for (const char c : text.substr(0, digits)) {
    if (!absl::ascii_isdigit(c)) return false;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return absl::ConsumePrefix(&text, behind);
}

// "2022-05-06T08:27:50.0000000Z", as nearly every time of Autodesk's is
// written. Abseil reads other forms as well, and takes far longer.
std::optional<absl::Time> ParseUtc(absl::string_view text) {
  int year, month, day, hour, minute, second;
  if (!TakeNumber(text, 4, "-", year) || !TakeNumber(text, 2, "-", month) ||
      !TakeNumber(text, 2, "T", day) || !TakeNumber(text, 2, ":", hour) ||
      !TakeNumber(text, 2, ":", minute) || !TakeNumber(text, 2, "", second) ||
      !absl::ConsumeSuffix(&text, "Z")) {
    return std::nullopt;
  }
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  // What had to be normalised was no time.
  if (civil.month() != month || civil.day() != day || civil.hour() != hour ||
      civil.minute() != minute || civil.second() != second) {
    return std::nullopt;
  }
  int fraction = 0;
  absl::Duration unit = absl::Seconds(1);
  if (!text.empty()) {
    const size_t digits = text.size() - 1;
    if (digits < 1 || digits > 9 || !absl::ConsumePrefix(&text, ".") ||
        !TakeNumber(text, digits, "", fraction)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < digits; ++i) unit /= 10;
  }
  return absl::FromUnixSeconds(civil - absl::CivilSecond()) + fraction * unit;
}

std::string FirstOf(std::string preferred, std::string otherwise) {
  return preferred.empty() ? std::move(otherwise) : std::move(preferred);
}

void AddFolder(JsonValue value, FolderPage& page) {
  Entry entry(value);
  Folder folder;
  folder.id = entry.Id({"id"});
  folder.name = FirstOf(entry.Name({"attributes", "name"}),
                        entry.Name({"attributes", "displayName"}));
  folder.rollup = entry.Id({"attributes", "lastModifiedTimeRollup"});
  folder.folder_type =
      entry.Id({"attributes", "extension", "data", "folderType"});
  folder.hidden = FindBool(value, {"attributes", "hidden"});
  std::string problem = ReadParentNames(value, folder.parent_names);
  if (folder.id.empty() || folder.name.empty()) {
    problem = "lacks its id or its name";
  }
  if (!entry.problem().empty()) problem = entry.problem();
  if (!problem.empty()) {
    page.defects.push_back(Defect("folder", folder.id, folder.name, problem));
    return;
  }
  page.folders.push_back(std::move(folder));
}

// Fills what the tip says of its item; returns what is so wrong with it that
// the item is left out.
std::string ReadVersion(JsonValue value, Item& item,
                        std::vector<std::string>& defects) {
  Entry version(value);
  item.version_id = version.Id({"id"});
  item.version_type = version.Id({"attributes", "extension", "type"});
  // A deleted item's tip is called by a GUID.
  const bool deleted = item.version_type == "versions:autodesk.core:Deleted";
  item.name = FirstOf(deleted ? version.Name({"attributes", "extension", "data",
                                              "originalName"})
                              : "",
                      FirstOf(version.Name({"attributes", "name"}), item.name));
  std::optional<int64_t> number;
  if (FindSize(value, {"attributes", "versionNumber"}, number).ok() &&
      number.value_or(0) <= INT32_MAX) {
    item.version_number = static_cast<int>(number.value_or(0));
  }
  const absl::Status size =
      FindSize(value, {"attributes", "storageSize"}, item.size);
  if (!size.ok()) {
    defects.push_back(Defect("item", item.item_id, item.name, size.message()));
  }
  item.storage_urn = version.Id({"relationships", "storage", "data", "id"});
  item.last_modified =
      ParseTimestamp(FindString(value, {"attributes", "lastModifiedTime"}));
  return version.problem();
}

void AddItem(JsonValue value, const Versions& versions, FolderPage& page) {
  Entry entry(value);
  Item item;
  item.item_id = entry.Id({"id"});
  item.name = entry.Name({"attributes", "displayName"});
  item.hidden = FindBool(value, {"attributes", "hidden"});
  item.item_type = entry.Id({"attributes", "extension", "type"});
  const std::string tip = entry.Id({"relationships", "tip", "data", "id"});
  const auto version = versions.find(tip);
  const auto defect = [&](absl::string_view what) {
    page.defects.push_back(Defect("item", item.item_id, item.name, what));
  };
  if (!entry.problem().empty()) return defect(entry.problem());
  if (!tip.empty() && version == versions.end()) {
    return defect("comes without its tip version");
  }
  std::vector<std::string> defects;
  if (!tip.empty()) {
    const std::string problem = ReadVersion(version->second, item, defects);
    if (!problem.empty()) return defect(problem);
  }
  if (item.item_id.empty() || item.name.empty()) {
    return defect("lacks its id or its name");
  }
  for (std::string& line : defects) page.defects.push_back(std::move(line));
  page.items.push_back(std::move(item));
}

absl::StatusOr<Versions> IncludedVersions(const JsonDocument& document) {
  Versions versions;
  if (!FindArray(document.root(), {"included"})) return versions;
  ABSL_ASSIGN_OR_RETURN(const auto included,
                        BoundedArray(document.root(), {"included"}));
  for (const JsonValue version : included) {
    if (FindText(version, {"type"}) == "versions") {
      versions.emplace(FindText(version, {"id"}), version);
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
  for (const JsonValue value : data) {
    Entry entry(value);
    Hub hub;
    hub.id = entry.Id({"id"});
    hub.name = entry.Name({"attributes", "name"});
    hub.region = entry.Id({"attributes", "region"});
    hub.type = entry.Id({"attributes", "extension", "type"});
    if (!entry.problem().empty()) {
      return absl::DataLossError(
          Defect("hub", hub.id, hub.name, entry.problem()));
    }
    if (!hub.id.empty()) list.hubs.push_back(std::move(hub));
  }
  if (!FindArray(document.root(), {"meta", "warnings"})) return list;
  ABSL_ASSIGN_OR_RETURN(const auto warnings,
                        BoundedArray(document.root(), {"meta", "warnings"}));
  for (const JsonValue entry : warnings) {
    list.warnings.push_back({Excerpt(FindString(entry, {"HttpStatusCode"})),
                             Excerpt(FindString(entry, {"ErrorCode"})),
                             Excerpt(FindString(entry, {"Title"})),
                             Excerpt(FindString(entry, {"Detail"}))});
  }
  return list;
}

absl::StatusOr<ProjectPage> ParseProjects(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  ABSL_ASSIGN_OR_RETURN(const auto data, DataOf(document));
  ProjectPage page;
  ABSL_ASSIGN_OR_RETURN(page.next_page_url, NextLink(document));
  for (const JsonValue value : data) {
    Entry entry(value);
    Project project;
    project.id = entry.Id({"id"});
    project.name = entry.Name({"attributes", "name"});
    project.kind = entry.Id({"attributes", "extension", "data", "projectType"});
    project.root_folder_id =
        entry.Id({"relationships", "rootFolder", "data", "id"});
    std::string problem = entry.problem();
    if (problem.empty() && (project.id.empty() || project.name.empty())) {
      problem = "lacks its id or its name";
    }
    if (problem.empty()) {
      page.projects.push_back(std::move(project));
    } else {
      page.defects.push_back(
          Defect("project", project.id, project.name, problem));
    }
  }
  return page;
}

absl::StatusOr<FolderPage> ParseFolderPage(absl::string_view json) {
  JsonDocument document;
  ABSL_RETURN_IF_ERROR(document.Parse(json));
  ABSL_ASSIGN_OR_RETURN(const auto data, DataOf(document));
  FolderPage page;
  ABSL_ASSIGN_OR_RETURN(page.next_page_url, NextLink(document));
  ABSL_ASSIGN_OR_RETURN(const Versions versions, IncludedVersions(document));
  for (const JsonValue entry : data) {
    const std::string_view type = FindText(entry, {"type"});
    if (type == "folders") {
      AddFolder(entry, page);
    } else if (type == "items") {
      AddItem(entry, versions, page);
    } else {
      page.defects.push_back(
          absl::StrCat("entry '", Excerpt(FindString(entry, {"id"})),
                       "' is of the unknown type '",
                       Excerpt(FindString(entry, {"type"})), "'"));
    }
  }
  return page;
}

absl::Time ParseTimestamp(absl::string_view text) {
  if (const auto utc = ParseUtc(text)) return *utc;
  absl::Time time;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return time;
  // Without an offset, as older answers have it.
  if (absl::ParseTime("%Y-%m-%d%ET%H:%M:%E*S", text, &time, nullptr)) {
    return time;
  }
  return absl::InfinitePast();
}

}  // namespace bimbackup::bim360
