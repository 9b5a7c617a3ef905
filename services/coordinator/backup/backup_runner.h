// The state machine of the one running backup.

#ifndef SERVICES_COORDINATOR_BACKUP_BACKUP_RUNNER_H_
#define SERVICES_COORDINATOR_BACKUP_BACKUP_RUNNER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/api_limiter.h"
#include "clients/bim360/bim360_client.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/backup/backup_view.h"
#include "services/coordinator/backup/progress.h"
#include "services/coordinator/backup/snapshot_step.h"
#include "services/coordinator/backup/watch_hub.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::crawl {
class Crawler;
}  // namespace bimbackup::crawl

namespace bimbackup::backup {

struct BackupOptions {
  std::string hub_id;
  // For messages that say what to do; public.
  std::string client_id;
  // As crawl::CrawlerOptions::viewer.
  std::string viewer;
  absl::Duration recheck_budget = absl::Minutes(5);
  // A run that takes longer ends as PARTIAL.
  absl::Duration max_duration = absl::InfiniteDuration();
};

// Crawls, waits for the transfers, writes the snapshot: one backup at a time,
// on a thread of its own. What runs when the process ends goes on, from where
// it was, when the next one starts. Thread-safe.
class BackupRunner {
 public:
  // All outlive the runner. It becomes the pool's listener: the pool is
  // started after that, and stopped before the runner is destroyed.
  BackupRunner(catalog::Catalog& catalog, bim360::Bim360Client& client,
               const bim360::ApiLimiter& limiter, storage::Storage& storage,
               lease::LeasePool& pool, SnapshotStep& snapshot, Clock& clock,
               const BackupOptions& options);
  // Stops.
  ~BackupRunner();

  // Takes up the backup that an earlier process left running, if any, and
  // starts to take new ones.
  absl::Status Start();
  // Ends every call to Autodesk, for good; leaves the running backup as it
  // is. Idempotent.
  void Stop();

  // INVALID_ARGUMENT for a malformed glob, FAILED_PRECONDITION for a storage
  // that is not usable, else as BackupStore::CreateBackup.
  absl::StatusOr<BackupView> StartBackup(const catalog::BackupRequest& request);

  // Waits until the run has ended. OK for a backup that was cancelled before;
  // FAILED_PRECONDITION where it has ended otherwise.
  absl::StatusOr<BackupView> CancelBackup(absl::string_view id);

  // A backup by its id, "-" for the newest. NOT_FOUND.
  absl::StatusOr<BackupView> GetBackup(absl::string_view id);
  // A record with what is known of it live.
  absl::StatusOr<BackupView> MakeView(catalog::BackupRecord record);

  // Why the running backup waits, if it does.
  lease::Pause GetPause() ABSL_LOCKS_EXCLUDED(mutex_);

  WatchHub& watches() { return watches_; }

 private:
  using Calls = std::array<int64_t, bim360::kEndpointClassCount>;

  void Loop();
  // One backup from where it is to its end, or until the process stops.
  void Run(const catalog::BackupRecord& record);
  absl::Status RunPhases(const catalog::BackupRecord& record);
  // Opens the lease pool for the backup; no effect when it is open already.
  absl::Status BeginTransfers(const catalog::BackupRecord& record);
  // Lists; sets `note` where the crawl was cut short.
  absl::Status Crawl(const catalog::BackupRecord& record, std::string& note);
  absl::Status WaitForTransfers(const catalog::BackupRecord& record,
                                std::string& note);
  absl::Status Commit(const catalog::BackupRecord& record,
                      absl::string_view note);
  // Puts a copy of the catalog into the storage, without what nobody asks for
  // any more.
  absl::Status KeepCatalogCopy(const catalog::BackupRecord& record);
  // As SnapshotStep::UpdateLatest, with INTERNAL for what only the view has.
  absl::Status UpdateLatest(const catalog::BackupRecord& record);
  // Repeats `write` while storage or catalog are full, denied or gone, as long
  // as the run may take. `what` says what could not be done.
  absl::Status WaitToWrite(const catalog::BackupRecord& record,
                           absl::string_view what,
                           const std::function<absl::Status()>& write)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteSnapshot(const catalog::BackupRecord& record,
                             catalog::BackupState end_state);
  absl::Status End(const catalog::BackupRecord& record,
                   catalog::BackupState state, absl::string_view message);
  // Repeats `write`, a change of the catalog, until it succeeds or the process
  // stops: without it the backup can neither go on nor end.
  absl::Status Persist(const catalog::BackupRecord& record,
                       const std::function<absl::Status()>& write)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a backup whose run has failed, or was cancelled.
  void EndFailed(const catalog::BackupRecord& record,
                 const absl::Status& status);
  absl::Status SetState(const catalog::BackupRecord& record,
                        catalog::BackupState state, absl::string_view message);

  // OK while the run should go on; CANCELLED otherwise.
  absl::Status CheckRunning() ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsStopping() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration Deadline(const catalog::BackupRecord& record) const;
  ApiLoad Load() const;
  // Calls since the last flush, by class name.
  std::map<std::string, int64_t> UnflushedCalls() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FlushCalls(catalog::BackupNumber backup) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnPoolChange();
  // Waits until the process stops, or the run is cancelled where that is to be
  // heeded; makes `wait` longer for the next time.
  void Await(absl::Duration& wait, bool heed_cancel)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Shows that the run waits for what `status` says; that it does not, for OK.
  void SetPause(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  catalog::Catalog& catalog_;
  bim360::Bim360Client& client_;
  const bim360::ApiLimiter& limiter_;
  storage::Storage& storage_;
  lease::LeasePool& pool_;
  SnapshotStep& snapshot_;
  Clock& clock_;
  const BackupOptions options_;

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // The backup that runs or is about to.
  std::optional<catalog::BackupRecord> running_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<crawl::Crawler> crawler_ ABSL_GUARDED_BY(mutex_);
  // What the crawl, the writing of the snapshot or of the catalog waits for.
  lease::Pause pause_ ABSL_GUARDED_BY(mutex_);
  RateMeter rate_ ABSL_GUARDED_BY(mutex_);
  Calls flushed_ ABSL_GUARDED_BY(mutex_) = {};

  WatchHub watches_;
  std::thread thread_;
};

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_BACKUP_RUNNER_H_
