#include "services/bim360_emulator/data_management.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "services/bim360_emulator/error_responses.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr int kMaxPage = 200;

HttpResponse Answer(std::string body) {
  HttpResponse response;
  response.headers.emplace_back("Content-Type", "application/vnd.api+json");
  response.body = std::move(body);
  return response;
}

std::string PageHref(const ApiRequest& request, absl::string_view base,
                     int number, int limit) {
  std::string href =
      absl::StrCat(base, request.http.Path(), "?page%5Bnumber%5D=", number);
  if (limit != kMaxPage) absl::StrAppend(&href, "&page%5Blimit%5D=", limit);
  for (const absl::string_view kept :
       {"includeHidden", "filter[type]", "filter[hidden]"}) {
    const std::string value = request.http.Parameter(kept);
    if (value.empty()) continue;
    absl::StrAppend(&href, "&", UrlEncode(kept), "=", UrlEncode(value));
  }
  return href;
}

PageLinks MakeLinks(const ApiRequest& request, const Paging& paging,
                    bool has_next) {
  const std::string base =
      request.HasFault(FaultType::kNextRelative) ? "" : request.base;
  const auto href = [&](int number) {
    return PageHref(request, base, number, paging.limit);
  };
  PageLinks links;
  links.self = absl::StrCat(base, request.http.target);
  links.first = href(0);
  if (paging.number > 0) links.prev = href(paging.number - 1);
  if (has_next) links.next = href(paging.number + 1);
  // The same page by another link, which leads nowhere twice.
  if (request.HasFault(FaultType::kEmptyPage)) {
    links.next = absl::StrCat(href(paging.number), "&after=empty");
  }
  if (request.HasFault(FaultType::kNextLoop)) links.next = href(paging.number);
  if (request.HasFault(FaultType::kNextForeign)) {
    links.next = PageHref(request, "http://foreign.example.com",
                          paging.number + 1, paging.limit);
  }
  return links;
}

// Leaves the page's entries in `all`; returns whether more follow.
template <typename T>
bool CutPage(const Paging& paging, std::vector<T>& all) {
  const size_t begin = std::min<size_t>(
      all.size(), static_cast<size_t>(paging.number) * paging.limit);
  const size_t end = std::min(all.size(), begin + paging.limit);
  const bool has_next = end < all.size();
  all.erase(all.begin() + end, all.end());
  all.erase(all.begin(), all.begin() + begin);
  return has_next;
}

// What a fault makes of a page's entries.
template <typename T>
void SpoilEntries(const ApiRequest& request, std::vector<T>& entries) {
  if (request.HasFault(FaultType::kEmptyPage)) entries.clear();
  if (request.HasFault(FaultType::kDuplicate)) {
    const size_t count = entries.size();
    entries.reserve(2 * count);
    for (size_t i = 0; i < count; ++i) entries.push_back(entries[i]);
  }
}

HttpResponse BadPaging() {
  return DataError(400, "BAD_INPUT", "The limit value is invalid.");
}

}  // namespace

std::optional<Paging> ReadPaging(const HttpRequest& request) {
  Paging paging;
  const std::string number = request.Parameter("page[number]");
  const std::string limit = request.Parameter("page[limit]");
  if (!number.empty() &&
      (!absl::SimpleAtoi(number, &paging.number) || paging.number < 0)) {
    return std::nullopt;
  }
  if (!limit.empty() && (!absl::SimpleAtoi(limit, &paging.limit) ||
                         paging.limit < 1 || paging.limit > kMaxPage)) {
    return std::nullopt;
  }
  return paging;
}

JsonApi DataManagement::MakeJson(const ApiRequest& request) const {
  JsonApi::Options options;
  options.base = request.base;
  options.account_id = parts_.options.account_id;
  options.region = parts_.options.region;
  if (request.HasFault(FaultType::kFractionDigits)) {
    options.fraction_digits = std::clamp<int>(request.fault->bytes, 0, 9);
  }
  options.huge_size = request.HasFault(FaultType::kHugeSize);
  if (request.HasFault(FaultType::kOmit)) options.omitted = request.fault->keys;
  return JsonApi(std::move(options), parts_.account.ids());
}

HttpResponse DataManagement::Handle(const ApiRequest& request) const {
  const Route& route = request.route;
  if (route.endpoint == Endpoint::kHubs) return HandleHubs(request);
  const bool hub_path = route.endpoint <= Endpoint::kTopFolders;
  if (hub_path &&
      route.ids[0] != absl::StrCat("b.", parts_.options.account_id)) {
    return DataError(404, "HUB_NOT_FOUND", "The hub does not exist.");
  }
  if (route.endpoint == Endpoint::kHub) return Answer(MakeJson(request).Hub());
  if (route.endpoint == Endpoint::kProjects) return HandleProjects(request);
  const std::string& project_id = route.ids[hub_path ? 1 : 0];
  const absl::StatusOr<ProjectView> project =
      parts_.account.FindProject(project_id);
  if (!project.ok() || !absl::StartsWith(project_id, "b.")) {
    return DataError(404, "PROJECT_NOT_FOUND", "The project does not exist.");
  }
  return HandleInProject(request, *project);
}

HttpResponse DataManagement::HandleHubs(const ApiRequest& request) const {
  return Answer(MakeJson(request).Hubs(request.HasFault(FaultType::kEmpty),
                                       request.HasFault(FaultType::kWarnings)));
}

HttpResponse DataManagement::HandleProjects(const ApiRequest& request) const {
  const std::optional<Paging> paging = ReadPaging(request.http);
  if (!paging.has_value()) return BadPaging();
  std::vector<ProjectView> projects = parts_.account.ListProjects();
  if (request.HasFault(FaultType::kEmpty)) projects.clear();
  const bool has_next = CutPage(*paging, projects);
  SpoilEntries(request, projects);
  return Answer(MakeJson(request).Projects(
      projects, MakeLinks(request, *paging, has_next)));
}

HttpResponse DataManagement::HandleInProject(const ApiRequest& request,
                                             const ProjectView& project) const {
  switch (request.route.endpoint) {
    case Endpoint::kProject:
      return Answer(MakeJson(request).Project(project));
    case Endpoint::kTopFolders: {
      auto folders = parts_.account.TopFolders(project.index);
      if (!folders.ok() || request.HasFault(FaultType::kEmpty)) {
        folders = std::vector<FolderView>();
      }
      return Answer(MakeJson(request).TopFolders(project, *folders));
    }
    case Endpoint::kFolder: {
      const auto key = parts_.account.ids().ParseFolderId(request.route.ids[1]);
      if (key.has_value()) {
        const auto folder = parts_.account.FindFolder(project.index, *key);
        if (folder.ok()) {
          return Answer(MakeJson(request).Folder(project, *folder));
        }
      }
      return DataError(404, "FOLDER_NOT_FOUND", "The folder does not exist.");
    }
    case Endpoint::kContents:
      return HandleContents(request, project);
    case Endpoint::kVersion:
      return HandleVersion(request, project);
    default:
      return HandleItem(request, project);
  }
}

HttpResponse DataManagement::HandleContents(const ApiRequest& request,
                                            const ProjectView& project) const {
  const std::optional<Paging> paging = ReadPaging(request.http);
  if (!paging.has_value()) return BadPaging();
  ContentsQuery query;
  query.page = paging->number;
  query.limit = paging->limit;
  const std::string type = request.http.Parameter("filter[type]");
  query.folders = type.empty() || type == "folders";
  query.items = type.empty() || type == "items";
  const std::string hidden = request.http.Parameter("filter[hidden]");
  query.hidden = request.http.Parameter("includeHidden") == "true" ||
                 absl::StrContains(hidden, "true");
  query.visible = hidden.empty() || absl::StrContains(hidden, "false");
  const auto key = parts_.account.ids().ParseFolderId(request.route.ids[1]);
  if (key.has_value()) {
    auto page = parts_.account.ListContents(project.index, *key, query);
    if (page.ok()) {
      SpoilEntries(request, page->folders);
      SpoilEntries(request, page->items);
      return Answer(MakeJson(request).Contents(
          project, *page, MakeLinks(request, *paging, page->has_next),
          request.HasFault(FaultType::kCycle)));
    }
  }
  return DataError(404, "FOLDER_NOT_FOUND", "The folder does not exist.");
}

HttpResponse DataManagement::HandleItem(const ApiRequest& request,
                                        const ProjectView& project) const {
  const auto key = parts_.account.ids().ParseItemId(request.route.ids[1]);
  if (key.has_value()) {
    const auto item = parts_.account.FindItem(project.index, *key);
    if (item.ok()) {
      if (request.route.endpoint == Endpoint::kTip) {
        return Answer(MakeJson(request).Tip(project, *item));
      }
      if (request.route.endpoint == Endpoint::kVersions) {
        return HandleVersions(request, project, *item);
      }
      return Answer(MakeJson(request).Item(project, *item));
    }
  }
  return DataError(404, "ITEM_NOT_FOUND", "The item does not exist.");
}

HttpResponse DataManagement::HandleVersions(const ApiRequest& request,
                                            const ProjectView& project,
                                            const ItemView& item) const {
  const std::optional<Paging> paging = ReadPaging(request.http);
  if (!paging.has_value()) return BadPaging();
  std::vector<ItemView> views;
  if (item.hidden) views.push_back(item);
  const auto versions = parts_.account.ListVersions(project.index, item.key);
  for (const Version& version : versions.value_or(std::vector<Version>())) {
    views.push_back(item);
    views.back().hidden = false;
    views.back().tip = version;
  }
  const bool has_next = CutPage(*paging, views);
  return Answer(MakeJson(request).Versions(
      project, views, MakeLinks(request, *paging, has_next)));
}

HttpResponse DataManagement::HandleVersion(const ApiRequest& request,
                                           const ProjectView& project) const {
  const auto key = parts_.account.ids().ParseVersionId(request.route.ids[1]);
  if (key.has_value()) {
    const auto item =
        parts_.account.FindVersion(project.index, key->key, key->number);
    if (item.ok()) return Answer(MakeJson(request).Version(project, *item));
  }
  return DataError(404, "VERSION_NOT_FOUND", "The version does not exist.");
}

}  // namespace bimbackup::bim360_emulator
