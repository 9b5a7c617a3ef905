// What becomes of each snapshot, and why.

#ifndef SERVICES_COORDINATOR_RETENTION_DECISIONS_H_
#define SERVICES_COORDINATOR_RETENTION_DECISIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/coordinator/retention/retention_policy.h"
#include "services/coordinator/retention/snapshot_rows.h"

namespace bimbackup::retention {

struct ForgetRequest {
  // Snapshots that this does not keep go.
  RetentionPolicy policy;
  // Ids of snapshots that go.
  std::vector<std::string> ids;
  // Remove nothing; say what would go.
  bool dry_run = false;
  // No snapshot goes; only what none names.
  bool sweep_only = false;
};

struct Decision {
  SnapshotRow row;
  bool kept = false;
  // Of the rules that keep it, or the fact that does so whatever the rules
  // say: "newest", "protected", "guarded", "unreadable", or, where snapshots
  // are named, "not named". Empty where it goes.
  std::vector<std::string> reasons;
};

// INVALID_ARGUMENT unless just one of a policy, ids and sweep_only is given,
// and every rule is 0 or more.
absl::Status CheckRequest(const ForgetRequest& request);

// Decides over `rows`, newest first. NOT_FOUND for an id that is none,
// FAILED_PRECONDITION for one that must stay. A snapshot whose file does not
// parse goes only by its id. Pure.
absl::StatusOr<std::vector<Decision>> Decide(std::vector<SnapshotRow> rows,
                                             const ForgetRequest& request,
                                             absl::Time now);

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_DECISIONS_H_
