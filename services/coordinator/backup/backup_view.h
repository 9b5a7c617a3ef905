// A backup as people see it: its record and what is known of it live.

#ifndef SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_
#define SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_

#include <optional>

#include "absl/time/time.h"
#include "services/coordinator/catalog/types.h"

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
};

struct BackupView {
  // Its message, while it runs, says what it waits for.
  catalog::BackupRecord record;
  // Of the account, as known now; zero for all but the newest backup.
  catalog::AccountTotals totals;
  double bytes_per_second = 0;
  std::optional<absl::Duration> eta;
  Limit limited_by = Limit::kUnspecified;
  int64_t transfers_leased = 0;
};

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_BACKUP_VIEW_H_
