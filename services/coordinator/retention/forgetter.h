// Forgets snapshots, then sweeps what they alone needed.

#ifndef SERVICES_COORDINATOR_RETENTION_FORGETTER_H_
#define SERVICES_COORDINATOR_RETENTION_FORGETTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/retention/decisions.h"
#include "services/coordinator/retention/sweeper.h"

namespace bimbackup::retention {

struct ForgetProgress {
  int64_t snapshots_removed = 0;
  SweepCounts sweep;
};

// Who asked. Called on the thread of the caller of Forget(), under no lock.
class ForgetObserver {
 public:
  virtual ~ForgetObserver() = default;
  // Once, before anything is removed.
  virtual void OnDecisions(const std::vector<Decision>& decisions) = 0;
  // Often; last with what has come of it.
  virtual void OnProgress(const ForgetProgress& progress) = 0;
  // Whether to give up; asked often.
  virtual bool Cancelled() = 0;
};

// Thread-safe.
class Forgetter {
 public:
  // All outlive the forgetter. `scratch_folder` is for what does not fit into
  // memory.
  Forgetter(storage::Storage& storage, catalog::Catalog& catalog,
            catalog::SweepGates& gates, Clock& clock,
            std::string scratch_folder);

  // Decides, removes snapshots one by one, each durably, then sweeps. May be
  // interrupted anywhere, and repeated. ABORTED while another one runs; else
  // as CheckRequest(), Decide() and Sweeper::Run().
  absl::Status Forget(const ForgetRequest& request, ForgetObserver& observer);

  // Protects a snapshot ("-": the newest) or ends that. Idempotent; NOT_FOUND.
  absl::StatusOr<SnapshotRow> Protect(absl::string_view id, bool is_protected);

 private:
  absl::Status Run(const ForgetRequest& request, ForgetObserver& observer);
  absl::StatusOr<std::vector<Decision>> MakeDecisions(
      const ForgetRequest& request);
  absl::Status RemoveSnapshots(const std::vector<Decision>& decisions,
                               ForgetObserver& observer,
                               ForgetProgress& progress);
  // False where somebody has protected it meanwhile.
  absl::StatusOr<bool> RemoveSnapshot(const std::string& id);
  absl::StatusOr<std::optional<absl::Time>> RunningSince();

  storage::Storage& storage_;
  catalog::Catalog& catalog_;
  catalog::SweepGates& gates_;
  Clock& clock_;
  const std::string scratch_folder_;

  Mutex mutex_;
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  // Held from the look whether a snapshot is protected until it is removed,
  // and while one is protected.
  Mutex protection_mutex_;
};

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_FORGETTER_H_
