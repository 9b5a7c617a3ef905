#include "services/coordinator/crawl/path_filter.h"

#include <algorithm>
#include <utility>

#include "services/common/status_macros.h"

namespace bimbackup::crawl {
namespace {

absl::StatusOr<std::vector<Glob>> ParseAll(
    const std::vector<std::string>& patterns) {
  std::vector<Glob> globs;
  for (const std::string& pattern : patterns) {
    ABSL_ASSIGN_OR_RETURN(Glob glob, Glob::Parse(pattern));
    globs.push_back(std::move(glob));
  }
  return globs;
}

}  // namespace

absl::StatusOr<PathFilter> PathFilter::Create(
    const catalog::BackupRequest& request) {
  PathFilter filter;
  filter.projects_ = request.projects;
  ABSL_ASSIGN_OR_RETURN(filter.include_, ParseAll(request.include));
  ABSL_ASSIGN_OR_RETURN(filter.exclude_, ParseAll(request.exclude));
  return filter;
}

bool PathFilter::WantsProject(absl::string_view id,
                              absl::string_view name) const {
  if (projects_.empty()) return true;
  return std::any_of(
      projects_.begin(), projects_.end(),
      [&](const std::string& p) { return p == id || p == name; });
}

bool PathFilter::WantsFolder(const std::vector<std::string>& path) const {
  if (IsExcluded(path)) return false;
  return include_.empty() ||
         std::any_of(include_.begin(), include_.end(),
                     [&](const Glob& g) { return g.MatchesBelow(path); });
}

bool PathFilter::WantsFile(const std::vector<std::string>& path) const {
  if (IsExcluded(path)) return false;
  return include_.empty() ||
         std::any_of(include_.begin(), include_.end(),
                     [&](const Glob& g) { return g.Matches(path); });
}

bool PathFilter::WantsAllBelow(const std::vector<std::string>& path) const {
  if (std::any_of(exclude_.begin(), exclude_.end(),
                  [&](const Glob& g) { return g.MatchesBelow(path); })) {
    return false;
  }
  return include_.empty() ||
         std::any_of(include_.begin(), include_.end(),
                     [&](const Glob& g) { return g.MatchesAllBelow(path); });
}

bool PathFilter::IsExcluded(const std::vector<std::string>& path) const {
  if (exclude_.empty()) return false;
  // What lies in an excluded folder is excluded with it.
  std::vector<std::string> above;
  for (const std::string& name : path) {
    above.push_back(name);
    for (const Glob& glob : exclude_) {
      if (glob.Matches(above)) return true;
    }
  }
  return false;
}

}  // namespace bimbackup::crawl
