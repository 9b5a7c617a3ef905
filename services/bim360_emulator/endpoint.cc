#include "services/bim360_emulator/endpoint.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {
namespace {

struct Pattern {
  Endpoint endpoint;
  absl::string_view name;
  int rate;
  absl::string_view method;  // GET also stands for HEAD.
  absl::string_view path;    // `*` stands for one segment.
};

constexpr Pattern kPatterns[] = {
    {Endpoint::kToken, "token", 500, "POST", "authentication/v2/token"},
    {Endpoint::kHubs, "hubs", 50, "GET", "project/v1/hubs"},
    {Endpoint::kHub, "hub", 50, "GET", "project/v1/hubs/*"},
    {Endpoint::kProjects, "projects", 50, "GET", "project/v1/hubs/*/projects"},
    {Endpoint::kProject, "project", 50, "GET", "project/v1/hubs/*/projects/*"},
    {Endpoint::kTopFolders, "top_folders", 300, "GET",
     "project/v1/hubs/*/projects/*/topFolders"},
    {Endpoint::kFolder, "folder", 300, "GET", "data/v1/projects/*/folders/*"},
    {Endpoint::kContents, "contents", 300, "GET",
     "data/v1/projects/*/folders/*/contents"},
    {Endpoint::kItem, "item", 300, "GET", "data/v1/projects/*/items/*"},
    {Endpoint::kTip, "tip", 50, "GET", "data/v1/projects/*/items/*/tip"},
    {Endpoint::kVersions, "versions", 800, "GET",
     "data/v1/projects/*/items/*/versions"},
    {Endpoint::kVersion, "version", 300, "GET",
     "data/v1/projects/*/versions/*"},
    {Endpoint::kSign, "sign", 1000, "GET",
     "oss/v2/buckets/*/objects/*/signeds3download"},
    {Endpoint::kBatchSign, "batch_sign", 1000, "POST",
     "oss/v2/buckets/*/objects/batchsigneds3download"},
    {Endpoint::kDetails, "details", 1000, "GET",
     "oss/v2/buckets/*/objects/*/details"},
    {Endpoint::kSignedResource, "signed_resource", 0, "GET",
     "oss/v2/signedresources/*"},
    {Endpoint::kStorage, "storage", 0, "", "storage/*/*"},
    {Endpoint::kAdmin, "admin", 0, "", "admin/*"},
};

bool Matches(const Pattern& pattern, absl::string_view method,
             const std::vector<absl::string_view>& segments,
             std::vector<std::string>& ids) {
  const bool right_method = pattern.method.empty() ||
                            method == pattern.method ||
                            (pattern.method == "GET" && method == "HEAD");
  if (!right_method) return false;
  ids.clear();
  size_t at = 0;
  for (const absl::string_view part : absl::StrSplit(pattern.path, '/')) {
    if (at == segments.size()) return false;
    if (part == "*") {
      ids.push_back(UrlDecode(segments[at]));
    } else if (part != segments[at]) {
      return false;
    }
    ++at;
  }
  return at == segments.size();
}

const Pattern* PatternOf(Endpoint endpoint) {
  for (const Pattern& pattern : kPatterns) {
    if (pattern.endpoint == endpoint) return &pattern;
  }
  return nullptr;
}

}  // namespace

absl::string_view EndpointName(Endpoint endpoint) {
  const Pattern* pattern = PatternOf(endpoint);
  return pattern == nullptr ? "unknown" : pattern->name;
}

int EndpointRate(Endpoint endpoint) {
  const Pattern* pattern = PatternOf(endpoint);
  return pattern == nullptr ? 0 : pattern->rate;
}

Endpoint LimitClass(Endpoint endpoint) {
  return endpoint == Endpoint::kBatchSign || endpoint == Endpoint::kDetails
             ? Endpoint::kSign
             : endpoint;
}

Route FindRoute(absl::string_view method, absl::string_view path) {
  absl::ConsumePrefix(&path, "/");
  const std::vector<absl::string_view> segments = absl::StrSplit(path, '/');
  Route route;
  for (const Pattern& pattern : kPatterns) {
    if (!Matches(pattern, method, segments, route.ids)) continue;
    route.endpoint = pattern.endpoint;
    return route;
  }
  route.ids.clear();
  return route;
}

}  // namespace bimbackup::bim360_emulator
