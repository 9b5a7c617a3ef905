// A backup as people see it: its record and what is known of it live.

#ifndef SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_
#define SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/lease/pause.h"

namespace bimbackup::backup {

// The numbers of Limit in coordinator_service.proto.
enum class Limit {
  kUnspecified = 0,
  kApiProjects = 1,
  kApiFolders = 2,
  kApiStorage = 3,
  kNetwork = 4,
  kStorage = 5,
  kNoWorker = 6,
  kNothingLeft = 7,
};

// What is still to be done, and the shortest time that the API budget makes
// it take.
struct BackupPlan {
  int64_t transfers = 0;
  int64_t bytes = 0;
  // By endpoint class.
  std::map<std::string, int64_t> api_calls;
  absl::Duration floor;
  // The class that makes the floor, and its calls a minute; empty and 0 where
  // none limits.
  std::string floor_class;
  double floor_calls_per_minute = 0;
};

struct BackupView {
  // Its message, while it runs, says what it waits for.
  catalog::BackupRecord record;
  // Of the account, as known now; zero for all but the newest backup.
  catalog::AccountTotals totals;
  double bytes_per_second = 0;
  std::optional<absl::Duration> eta;
  Limit limited_by = Limit::kUnspecified;
  // Why a running backup waits; its message then, too.
  lease::Pause pause;
  int64_t transfers_leased = 0;
  // Of a backup that runs, or of a dry run that has ended.
  std::optional<BackupPlan> plan;
};

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_
