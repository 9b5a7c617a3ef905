// Hands the running backup's transfers out to workers and takes their
// results back.

#ifndef SERVICES_COORDINATOR_LEASE_LEASE_POOL_H_
#define SERVICES_COORDINATOR_LEASE_LEASE_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "clients/http/host_policy.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/lease/bandwidth_shares.h"
#include "services/coordinator/lease/lease_table.h"
#include "services/coordinator/lease/pause.h"
#include "services/coordinator/lease/settler.h"
#include "services/coordinator/lease/signer.h"
#include "services/coordinator/lease/storage_gate.h"
#include "services/coordinator/lease/types.h"
#include "services/coordinator/lease/worker_table.h"

namespace bimbackup::lease {

// Everything that changes leases happens in Pump(), on one thread: what
// arrived meanwhile (reports, signed URLs) is settled in one transaction,
// then what is ready is granted in another, then whoever is due is answered.
// Nothing is polled: every arrival wakes it. Thread-safe.
class LeasePool {
 public:
  struct Options {
    int max_signing = 64;
    // A lease that is not renewed for so long goes to others.
    absl::Duration lease_life = kLeaseLife;
    // The longest that a report without news waits for its answer; a third of
    // `lease_life` where that is less.
    absl::Duration max_hold = absl::Seconds(20);
    // What keeps a reported blob from being swept before it is counted;
    // outlives the pool. Null where nobody sweeps.
    catalog::SweepGate* results_gate = nullptr;
  };
  using Answered = std::function<void(absl::StatusOr<SynchronizeAnswer>)>;

  // All outlive the pool.
  LeasePool(catalog::TransferStore& store, storage::Storage& storage,
            bim360::Bim360Client& client, const http::HostPolicy& policy,
            Clock& clock, Random& random, const Options& options);
  LeasePool(catalog::TransferStore& store, storage::Storage& storage,
            bim360::Bim360Client& client, const http::HostPolicy& policy,
            Clock& clock, Random& random);
  // Stops.
  ~LeasePool();

  // Called after every change that stats() shows, on the pool's thread,
  // under no lock. Set before Start(), and only then.
  void SetListener(std::function<void()> listener);

  // Takes epochs that no process before has used.
  absl::Status LoadEpoch();
  // Loads epochs and starts the pool's thread. Without it, tests call Pump()
  // themselves.
  absl::Status Start();
  // Answers every waiting report with UNAVAILABLE; leases stand in the
  // catalog. Later reports get UNAVAILABLE. Idempotent.
  void Stop();

  // Opens a backup's transfers, which began at `create_time`, with the
  // leases that an earlier process left. No effect where it is open already.
  absl::Status BeginBackup(catalog::BackupNumber backup,
                           absl::Time create_time);
  // The catalog may hold more pending transfers than before.
  void NotifyPending();
  // The crawl has ended: no more transfers come.
  void SetListingDone();
  // Forgets the backup's transfers, ends what is being signed, and revokes its
  // leases.
  void EndBackup();

  // A worker's report. `answered` is called exactly once, under no lock, at
  // once or when there is something to tell, at the latest after max_hold.
  // Returns a number for CancelCall(). A newer report of the same worker
  // answers its earlier one.
  int64_t Synchronize(WorkerReport report, Answered answered);
  // The report's caller has gone: it is answered with CANCELLED, and unless
  // the worker reports again within seconds, its leases return.
  void CancelCall(int64_t call);

  // Signs a leased transfer's URLs again, waiting for it until `cancel` asks
  // to stop. FAILED_PRECONDITION: the lease is lost. RESOURCE_EXHAUSTED:
  // signed too often.
  absl::StatusOr<bim360::SignedDownload> ResolveDownload(
      absl::string_view worker_id, int64_t transfer_id, int64_t epoch,
      const std::stop_token& cancel = {});

  // In order of their ids.
  std::vector<WorkerInfo> ListWorkers() const;
  // From now on the worker is granted nothing and told to end; NOT_FOUND.
  absl::StatusOr<WorkerInfo> DrainWorker(absl::string_view worker_id);

  // Caps the body bytes a second of all workers together, or of one where
  // `worker_id` is not empty; 0 for no cap. The workers that hold leases share
  // the cap of all; they hear of a new share by the answer to the call that
  // they have open or make next, the others with their first lease at the
  // latest. Waits for neither storage nor catalog. A worker's cap is forgotten
  // with the worker. NOT_FOUND.
  absl::Status SetBandwidth(absl::string_view worker_id,
                            int64_t bytes_per_second);
  BandwidthShares bandwidth() const;

  PoolStats stats() const;

  // Does everything that is due; the pool's thread calls it.
  void Pump();

 private:
  struct Call {
    int64_t sequence = 0;
    WorkerReport report;
    Answered answered;
    absl::Duration deadline;
    SynchronizeAnswer answer;
    // Results that are acknowledged once they are committed.
    std::vector<int64_t> settling;
    // Set when the call is to be answered now.
    bool due = false;
    absl::Status status;
  };
  struct Signed {
    int64_t transfer_id;
    absl::StatusOr<bim360::SignedDownload> download;
  };
  struct Inbox {
    std::vector<Call> calls;
    std::set<int64_t> cancelled;
    std::vector<Signed> downloads;
  };
  using Reply = std::pair<Answered, absl::StatusOr<SynchronizeAnswer>>;

  void Run();
  void Wake();

  // Takes in what came, from the look for reported blobs to the commit.
  void SettleInbox(Inbox inbox) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);

  // The steps of Pump(), in their order.
  void TakeDownloads(std::vector<Signed> downloads)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void TakeCall(Call call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void TakeResults(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void DropCancelled(const std::set<int64_t>& cancelled)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void ExpireLeases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void CommitEndings() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void Grant() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void GrantTo(Call& call, std::vector<catalog::LeaseRecord>& leases)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void Refill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  absl::Status LoadPending() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void SubmitSigning() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void LookForStragglers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  std::vector<Reply> TakeReplies() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  // The workers that the bandwidth is divided among: whoever holds leases,
  // also while it drains, or where nobody does whoever may get some.
  std::set<std::string> BandwidthUsers(absl::Duration now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  // Takes note of how a change of the catalog went.
  void NoteCatalog(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  Pause CurrentPause(absl::Duration now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);

  bool IsDue(Call& call, absl::Duration now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  absl::StatusOr<Tally> LoadTally(const catalog::TransferRecord& transfer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  absl::Status RestoreLeases(absl::Duration expires)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mutex_);
  int64_t NextSequence();

  catalog::TransferStore& store_;
  Clock& clock_;
  const Options options_;
  std::function<void()> listener_;

  // The state, which Pump() holds through its calls to catalog and storage.
  // Taken before mutex_.
  mutable Mutex state_mutex_;
  LeaseTable table_ ABSL_GUARDED_BY(state_mutex_);
  WorkerTable workers_ ABSL_GUARDED_BY(state_mutex_);
  StorageGate gate_ ABSL_GUARDED_BY(state_mutex_);
  Settler settler_ ABSL_GUARDED_BY(state_mutex_);
  std::deque<Call> calls_ ABSL_GUARDED_BY(state_mutex_);
  // Backup's number; nothing while none is open.
  std::optional<catalog::BackupNumber> backup_ ABSL_GUARDED_BY(state_mutex_);
  absl::Time create_time_ ABSL_GUARDED_BY(state_mutex_);
  // Pending transfers up to this id have been loaded.
  int64_t cursor_ ABSL_GUARDED_BY(state_mutex_) = 0;
  int64_t next_epoch_ ABSL_GUARDED_BY(state_mutex_) = 0;
  int64_t bytes_moved_ ABSL_GUARDED_BY(state_mutex_) = 0;
  // When the catalog is asked again after it failed.
  absl::Duration catalog_retry_ ABSL_GUARDED_BY(state_mutex_);
  // Why the last change of the catalog failed; OK where it did not.
  absl::Status catalog_problem_ ABSL_GUARDED_BY(state_mutex_);
  std::string credential_problem_ ABSL_GUARDED_BY(state_mutex_);
  bool drained_ ABSL_GUARDED_BY(state_mutex_) = false;

  // What arrives, and what was published.
  mutable Mutex mutex_;
  CondVar arrived_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool more_pending_ ABSL_GUARDED_BY(mutex_) = false;
  bool listing_done_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  PoolStats stats_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkerInfo> listed_ ABSL_GUARDED_BY(mutex_);
  // With caps of listed workers only.
  BandwidthShares bandwidth_ ABSL_GUARDED_BY(mutex_);
  absl::Duration next_event_ ABSL_GUARDED_BY(mutex_);

  // Last: its threads call back into the above.
  std::optional<Signer> signer_;
  std::thread thread_;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_LEASE_POOL_H_
