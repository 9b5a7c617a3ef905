// Moves bytes: runs transfers over the HTTP transport into the storage.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_DOWNLOAD_ENGINE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_DOWNLOAD_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/concurrency.h"
#include "services/download_worker/engine/engine_options.h"
#include "services/download_worker/engine/executor.h"
#include "services/download_worker/engine/pace.h"
#include "services/download_worker/engine/slot_schedule.h"
#include "services/download_worker/engine/storage_gate.h"
#include "services/download_worker/engine/transfer_run.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// What one transfer is like at the moment.
struct TransferProgress {
  uint64_t handle = 0;
  int64_t transfer_id = 0;
  std::string display_path;
  // Bytes on disk.
  int64_t bytes_done = 0;
  // -1 while unknown.
  int64_t size = -1;
  // Whether it has been started.
  bool running = false;
};

// Sums since the engine's start.
struct EngineTotals {
  int64_t stored = 0;
  // Ended otherwise, released ones not counted.
  int64_t failed = 0;
  int64_t bytes_received = 0;
};

// Thread-safe. Each transfer is in the queue, running, or being committed;
// the queue is bounded by whoever submits. Destruction releases everything
// and returns after the last callback.
class DownloadEngine final : private TransferHost {
 public:
  // Called once for each transfer, on a thread of the engine's; must not
  // block.
  using Done = std::function<void(uint64_t handle, const TransferReport&)>;

  DownloadEngine(const EngineDeps& deps, const EngineOptions& options);
  ~DownloadEngine() override;

  // Takes a transfer; returns its handle, which is never reused. `done` may
  // be called before this returns.
  uint64_t Submit(TransferTask task, Done done);

  // Ends a transfer as kReleased, for `reason`; no effect on one that has
  // ended or is being committed.
  void Release(uint64_t handle, const std::string& reason);

  // Releases what has not been started.
  void ReleaseQueued(const std::string& reason);

  // Everything that has not ended.
  std::vector<TransferProgress> Progress() const;

  EngineTotals totals() const;

  // What is wrong with the storage; empty when nothing is.
  std::string storage_problem() const;

  // Transfers that wait to be started, and that have not ended in all.
  int queued() const;
  int held() const;
  // Whether a transfer that is submitted now would start at once.
  bool HasFreeSlot() const;
  // Requests that may run now.
  int slots() const;

  // Caps the body bytes a second of what is requested, which the transport
  // enforces: requests get the time that the cap makes them take. 0 for no
  // cap.
  void SetBandwidthCap(int64_t bytes_per_second) {
    pace_.SetCap(bytes_per_second);
  }

 private:
  struct Entry {
    std::shared_ptr<TransferRun> run;
    Done done;
    bool started = false;
    bool committing = false;
  };

  void SetWanted(uint64_t handle, int slots) override;
  void ReleaseSlot(uint64_t handle) override;
  void OnCommitting(uint64_t handle) override;
  void OnBytes(int64_t bytes) override { moved_ += bytes; }
  void OnRequestEnded(absl::Duration took, bool overloaded) override;
  int SpareSlots() const override;
  const Pace& pace() const override { return pace_; }
  void OnEnded(uint64_t handle, const TransferReport& report) override;

  // Hands out free slots.
  void Pump();
  bool MayStart() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Count(const TransferReport& report)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends an entry that was never started.
  void EndQueued(uint64_t handle, const std::string& reason);
  // Shows the gate's state to whoever holds `mutex_` alone.
  void CopyGate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(gate_mutex_);
  // Once a second: the watchdog's round, the storage's and the slots'.
  void Tick();
  void AdaptSlots() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const EngineDeps deps_;
  const EngineOptions options_;
  Pace pace_;
  // Bytes that concurrency_ has not counted yet.
  std::atomic<int64_t> moved_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  Concurrency concurrency_ ABSL_GUARDED_BY(mutex_);
  SlotSchedule schedule_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_handle_ ABSL_GUARDED_BY(mutex_) = 0;
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
  int committing_ ABSL_GUARDED_BY(mutex_) = 0;
  EngineTotals totals_ ABSL_GUARDED_BY(mutex_);
  std::string storage_problem_ ABSL_GUARDED_BY(mutex_);
  bool storage_on_trial_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  Mutex gate_mutex_;
  StorageGate gate_ ABSL_GUARDED_BY(gate_mutex_);

  // Last, so that its threads end first.
  Executor executor_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_DOWNLOAD_ENGINE_H_
