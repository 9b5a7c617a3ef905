// How a backup ends: its state and the one line that says why.

#ifndef SERVICES_COORDINATOR_BACKUP_ENDING_H_
#define SERVICES_COORDINATOR_BACKUP_ENDING_H_

#include <string>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::backup {

struct Ending {
  catalog::BackupState state = catalog::BackupState::kSucceeded;
  std::string message;
};

// The end of a backup whose crawl and transfers are over: SUCCEEDED, or
// PARTIAL where something failed, was not listed or is guarded, or where
// `note` says that the run was cut short.
Ending JudgeEnding(const catalog::BackupCounters& counters,
                   absl::string_view note);

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_ENDING_H_
