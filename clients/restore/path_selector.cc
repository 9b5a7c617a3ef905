#include "clients/restore/path_selector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {

using storage::format::EntryKind;
using storage::format::ManifestEntry;
using storage::format::SnapshotProject;

absl::StatusOr<PathSelector> PathSelector::Parse(
    const std::vector<std::string>& paths) {
  PathSelector selector;
  for (absl::string_view path : paths) {
    absl::ConsumePrefix(&path, "/");
    absl::ConsumeSuffix(&path, "/");
    if (path.empty()) return absl::InvalidArgumentError("a path is empty");
    Pattern pattern;
    pattern.text = std::string(path);
    if (pattern.text.find_first_of("*?[\\") != std::string::npos) {
      ABSL_ASSIGN_OR_RETURN(pattern.glob, Glob::Parse(path));
    }
    selector.patterns_.push_back(std::move(pattern));
  }
  return selector;
}

bool PathSelector::MayHold(const SnapshotProject& project) const {
  return everything() || std::any_of(patterns_.begin(), patterns_.end(),
                                     [&](const Pattern& pattern) {
                                       return MayHold(pattern, project);
                                     });
}

bool PathSelector::MayHold(const Pattern& pattern,
                           const SnapshotProject& project) {
  // A name may hold a '/' itself.
  const std::string below = absl::StrCat(pattern.text, "/");
  if (absl::StartsWith(below, absl::StrCat(project.name, "/")) ||
      absl::StartsWith(below, absl::StrCat(project.stored_name, "/"))) {
    return true;
  }
  return pattern.glob.has_value() &&
         (pattern.glob->Matches({project.name}) ||
          pattern.glob->MatchesBelow({project.name}));
}

bool PathSelector::Selects(const ManifestEntry& entry) {
  if (everything()) return true;
  if (!selected_folder_.empty() &&
      absl::StartsWith(entry.stored_path, selected_folder_)) {
    return true;
  }
  std::vector<std::string> names = {entry.project_name};
  names.insert(names.end(), entry.path.begin(), entry.path.end());
  const bool matches = std::any_of(
      patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
        return Matches(pattern, names, entry.stored_path);
      });
  if (matches && entry.kind == EntryKind::kFolder) {
    selected_folder_ = absl::StrCat(entry.stored_path, "/");
  }
  return matches;
}

bool PathSelector::Matches(const Pattern& pattern,
                           const std::vector<std::string>& names,
                           absl::string_view stored_path) {
  return pattern.text == stored_path ||
         pattern.text == absl::StrJoin(names, "/") ||
         (pattern.glob.has_value() && pattern.glob->Matches(names));
}

}  // namespace bimbackup::restore
