// Turns what befell transfers into changes of the catalog, and of the lease
// table once the catalog has them.

#ifndef SERVICES_COORDINATOR_LEASE_SETTLER_H_
#define SERVICES_COORDINATOR_LEASE_SETTLER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/lease/lease_table.h"
#include "services/coordinator/lease/storage_gate.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::lease {

// Gathers endings, of which Commit() makes one transaction. At most one
// ending a transfer between two commits: others are left for later. Not
// thread-safe.
class Settler {
 public:
  // When a result may be acknowledged to its worker.
  enum class Acknowledge { kNow, kAfterCommit, kNotYet };

  // All outlive the settler.
  Settler(LeaseTable& table, catalog::TransferStore& store,
          storage::Storage& storage, StorageGate& gate, Clock& clock,
          Random& random);

  // A worker's result. Looks that a blob which is said to be stored is there.
  Acknowledge AddResult(absl::string_view worker_id,
                        const TransferResult& result);
  // A lease that ended without a result: its holder was lost (kUnspecified),
  // or never got it (kReleased).
  void AddLoss(int64_t id, Outcome outcome, absl::string_view reason);
  // A transfer that could not be signed.
  void AddSigningFailure(int64_t id, const absl::Status& status);

  bool empty() const { return endings_.empty(); }

  // Applies what was gathered. On an error nothing is settled: leases stand,
  // and lost or unsigned transfers are looked at again soon.
  absl::Status Commit(catalog::BackupNumber backup);

  // Leases that Commit() took from their holders, by worker, since the last
  // call: their transfers are stored already.
  std::map<std::string, std::vector<int64_t>> TakeRevoked();
  // Transfers stored by worker since the last call.
  std::map<std::string, int64_t> TakeStored();

 private:
  struct Ending {
    int64_t id = 0;
    catalog::TransferUpdate update;
    // The transfer is tried again then; else it leaves the table.
    bool retry = false;
    absl::Duration not_before;
    bool sign_again = false;
    // Nobody may keep the lease that ended.
    bool fence = false;
    // Reported under a lease that is not the current one.
    bool late = false;
    Tally tally;
    // Not a worker's: its transfer is delayed when the commit fails.
    bool own = false;
    std::string worker_id;
    std::string message;
  };

  Acknowledge AddStored(absl::string_view worker_id,
                        const TransferResult& result, bool current);
  Acknowledge AddLate(absl::string_view worker_id,
                      const TransferResult& result);
  // Keeps a late failure, which changes nothing, for people.
  void AddLateAttempt(absl::string_view worker_id,
                      const TransferResult& result);
  // Counts the ending and adds the update that follows from it.
  void AddFailure(absl::string_view worker_id, const TransferResult& result,
                  bool own);
  void Perform(const Ending& ending);

  LeaseTable& table_;
  catalog::TransferStore& store_;
  storage::Storage& storage_;
  StorageGate& gate_;
  Clock& clock_;
  Random& random_;
  std::vector<Ending> endings_;
  std::set<int64_t> settled_;
  std::map<std::string, std::vector<int64_t>> revoked_;
  std::map<std::string, int64_t> stored_;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_SETTLER_H_
