// Keeps a worker in step with its coordinator: one Synchronize after the
// other.

#ifndef SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_LOOP_H_
#define SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_LOOP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/common/backoff.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/download_worker/engine/download_engine.h"
#include "services/download_worker/lease/lease_book.h"
#include "services/download_worker/lease/lookahead.h"
#include "services/download_worker/lease/worker_pool.h"

namespace bimbackup::worker_lease {

struct LeaseOptions {
  // How long after the first result the next call goes out at the latest;
  // and how long at the least, so that results go together.
  absl::Duration result_delay = absl::Milliseconds(500);
  absl::Duration gather_delay = absl::Milliseconds(10);
  // What the coordinator may hold a call, and what it gets beyond that.
  absl::Duration hold = absl::Seconds(20);
  absl::Duration call_timeout = absl::Seconds(10);
  // How long a drain that the coordinator asks for lets transfers go on.
  absl::Duration drain_grace = absl::Seconds(30);
  // Told the bandwidth that the coordinator allows, in bytes a second (0 for
  // any), whenever it changes; on the loop's thread.
  std::function<void(int64_t)> on_bandwidth;
  // Between attempts to reach the coordinator; the attempts have no end.
  Backoff reconnect{.initial = absl::Milliseconds(200),
                    .maximum = absl::Seconds(5)};
};

// How it stands with the coordinator.
struct Connection {
  bool connected = false;
  // What the last failed call said; empty while connected.
  std::string error;
  bool draining = false;
};

// Grants become transfers of the engine, their reports results. While the
// coordinator is away the worker goes on with what runs, and gives up what
// has not been started once its leases are over. Thread-safe.
class LeaseLoop {
 public:
  // Everything outlives the loop but the engine, whose callbacks the loop
  // outlives and which must not be used after Stop().
  LeaseLoop(Clock& clock, Random& random, WorkerPool& pool,
            engine::DownloadEngine& engine, const LeaseOptions& options);
  ~LeaseLoop();

  // Starts the loop's thread. Call once.
  void Start();

  // Takes nothing more, gives back what has not been started, lets what runs
  // go on for `grace`, gives back the rest, ends. Idempotent; a shorter
  // grace counts.
  void Drain(absl::Duration grace);

  // Waits for the loop's end for at most `timeout`. Nothing while it goes on;
  // OK after a drain; FAILED_PRECONDITION when the coordinator refused this
  // worker.
  std::optional<absl::Status> Wait(absl::Duration timeout);

  // Ends the loop without telling anybody. Idempotent.
  void Stop();

  Connection connection() const;

 private:
  void Run();
  // One call and what follows from it; false when the loop is over.
  bool Round();
  // Returns whether a call is due; false when the loop is to end.
  bool WaitUntilDue();
  bool IsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsDrained() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Duration NextLook() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SyncRequest BuildRequest();
  absl::StatusOr<SyncResponse> Call(const SyncRequest& request);
  void Apply(const SyncRequest& request, const SyncResponse& response);
  void TakeGrants(const std::vector<engine::TransferTask>& granted);
  void DropLost(const std::vector<int64_t>& revoked);
  // Returns false when the worker is refused.
  bool HandleError(const absl::Status& status);
  void DropUnstarted();
  void PressDrain();
  void End(absl::Status status);

  Clock& clock_;
  Random& random_;
  WorkerPool& pool_;
  engine::DownloadEngine& engine_;
  const LeaseOptions options_;

  mutable Mutex mutex_;
  CondVar changed_;
  LeaseBook book_ ABSL_GUARDED_BY(mutex_);
  Connection connection_ ABSL_GUARDED_BY(mutex_);
  std::string reported_problem_ ABSL_GUARDED_BY(mutex_);
  // A call told that the worker drains and holds nothing.
  bool farewell_said_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration drain_deadline_ ABSL_GUARDED_BY(mutex_) =
      absl::InfiniteDuration();
  bool drain_pressed_ ABSL_GUARDED_BY(mutex_) = false;
  // No call before it, though results wait.
  absl::Duration not_before_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  // What the call under way was answered.
  std::optional<absl::StatusOr<SyncResponse>> answer_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // Of the loop's thread.
  absl::Duration last_renewal_;
  absl::Duration lease_life_ = absl::Seconds(60);
  int64_t max_bandwidth_ = 0;
  int failures_ = 0;
  Lookahead lookahead_;
  // What it said last.
  int ahead_ = 0;
  std::thread thread_;
};

}  // namespace bimbackup::worker_lease

#endif  // SERVICES_DOWNLOAD_WORKER_LEASE_LEASE_LOOP_H_
