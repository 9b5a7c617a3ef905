// How fast a backup goes, when it will end, and what limits it.

#ifndef SERVICES_COORDINATOR_BACKUP_PROGRESS_H_
#define SERVICES_COORDINATOR_BACKUP_PROGRESS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "services/coordinator/backup/backup_view.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::backup {

// The rate of a growing counter over the last seconds. Not thread-safe.
class RateMeter {
 public:
  static constexpr absl::Duration kWindow = absl::Seconds(10);

  // Takes note of the counter's value at a monotonic time.
  void Add(absl::Duration now, int64_t value);
  // Units a second; 0 where nothing can be said yet.
  double PerSecond() const;
  void Reset() { samples_.clear(); }

 private:
  std::deque<std::pair<absl::Duration, int64_t>> samples_;
};

// Calls that wait for their turn now, and calls a minute that are allowed,
// by endpoint class.
struct ApiLoad {
  int waiting_projects = 0;
  int waiting_folders = 0;
  int waiting_storage = 0;
  double projects_a_minute = 50;
  double folders_a_minute = 300;
  double storage_a_minute = 1000;
};

// What the transfers and folders found so far still need. `unsigned_transfers`
// of them wait for signed URLs; a call signs `signed_by_a_call` of them.
BackupPlan MakePlan(const catalog::BackupRecord& record,
                    const catalog::AccountTotals& totals,
                    int64_t unsigned_transfers, int signed_by_a_call,
                    const ApiLoad& api);

// What a running backup waits for most.
Limit FindLimit(catalog::BackupState state, const lease::PoolStats& pool,
                const ApiLoad& api);

// When what a plan holds will be done: the slowest of bytes, signing and
// listing. Nothing where nothing can be said.
std::optional<absl::Duration> EstimateRemaining(const BackupPlan& plan,
                                                double bytes_per_second,
                                                const ApiLoad& api);

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_PROGRESS_H_
