#include "services/coordinator/backup/ending.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace bimbackup::backup {
namespace {

std::string Count(int64_t count, absl::string_view one,
                  absl::string_view many) {
  return absl::StrCat(count, " ", count == 1 ? one : many);
}

}  // namespace

Ending JudgeEnding(const catalog::BackupCounters& counters,
                   absl::string_view note) {
  std::vector<std::string> parts;
  if (!note.empty()) parts.emplace_back(note.data(), note.size());
  if (counters.unlisted > 0) {
    parts.push_back(absl::StrCat(
        Count(counters.unlisted, "folder or project", "folders or projects"),
        " could not be listed"));
  }
  if (counters.denied > 0) {
    parts.push_back(absl::StrCat(counters.denied,
                                 " of them forbidden, which `bimbackup accept "
                                 "- denied` accepts"));
  }
  if (counters.transfers_failed > 0) {
    parts.push_back(
        absl::StrCat(Count(counters.transfers_failed, "file", "files"),
                     " could not be fetched"));
  }
  const bool named = counters.unlisted > 0 || counters.transfers_failed > 0;
  if (named) parts.push_back("`bimbackup failures` names them");
  if (counters.guarded > 0) {
    parts.push_back(absl::StrCat(
        Count(counters.guarded, "entry", "entries"),
        " vanished in a number too large to believe and stand guarded;"
        " `bimbackup accept - deletions` removes them"));
  }
  if (parts.empty()) return {catalog::BackupState::kSucceeded, ""};
  return {catalog::BackupState::kPartial, absl::StrJoin(parts, "; ")};
}

}  // namespace bimbackup::backup
