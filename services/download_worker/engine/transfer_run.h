// One transfer, from its first request to its commit.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_RUN_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/http/host_policy.h"
#include "clients/http/http_transport.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/download_worker/engine/engine_options.h"
#include "services/download_worker/engine/executor.h"
#include "services/download_worker/engine/pace.h"
#include "services/download_worker/engine/part_failure.h"
#include "services/download_worker/engine/part_fetch.h"
#include "services/download_worker/engine/part_plan.h"
#include "services/download_worker/engine/partial_blob.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// What a run asks of the engine that it belongs to. Thread-safe.
class TransferHost {
 public:
  virtual ~TransferHost() = default;

  // How many more slots the run could use now; each comes by OnSlot().
  virtual void SetWanted(uint64_t handle, int slots) = 0;
  // Gives one slot back.
  virtual void ReleaseSlot(uint64_t handle) = 0;
  // The run's bytes are in; its commit begins.
  virtual void OnCommitting(uint64_t handle) = 0;
  // Body bytes were written. Quick, because the transport's threads call it.
  virtual void OnBytes(int64_t bytes) = 0;
  // A request ended: how long it took, and whether it was refused or lost
  // because something is overloaded.
  virtual void OnRequestEnded(absl::Duration took, bool overloaded) = 0;
  // Slots that no other run could use now.
  virtual int SpareSlots() const = 0;
  virtual const Pace& pace() const = 0;
  // Called once, last; the run holds no slot any more.
  virtual void OnEnded(uint64_t handle, const TransferReport& report) = 0;
};

// The state machine of one transfer. Its events run one at a time on a
// strand; what the transport's threads call writes bytes and posts events.
// The public methods are thread-safe.
class TransferRun : public PartSink,
                    public std::enable_shared_from_this<TransferRun> {
 public:
  // `deps`, `options` and `host` outlive the run.
  TransferRun(uint64_t handle, TransferTask task, const EngineDeps& deps,
              const EngineOptions& options, Executor& executor,
              TransferHost& host);

  // Opens the blob, then fetches with the one slot that comes with the call.
  void Start();
  // One of the wanted slots is there.
  void OnSlot();
  // Ends the run as kReleased, with what is written recorded for a later
  // attempt. A commit that has begun is let through.
  void Release(std::string reason);
  // Looks for what does not move; call about once a second.
  void Tick();

  // Bytes on disk, and the whole size, -1 while unknown.
  int64_t bytes_done() const { return bytes_done_; }
  int64_t size() const { return size_; }
  const TransferTask& task() const { return task_; }

  absl::Status OnPartHead(const PartHead& head) override;
  absl::Status OnPartBytes(int64_t offset, absl::string_view bytes) override;
  void OnPartDone(uint64_t key, const PartResult& result) override;

 private:
  enum class State {
    kNew,
    kFetching,
    kVerifying,
    kCommitting,
    kStopping,
    kEnded
  };

  // A request on its way.
  struct Running {
    size_t part = 0;
    std::shared_ptr<PartLine> line;
    http::TransferId id = 0;
    // The signature that it uses.
    int generation = 0;
    int64_t begin = 0;
    // On the monotonic clock, as are the others.
    absl::Duration began_at;
    absl::Duration deadline;
    int64_t seen_position = 0;
    absl::Duration seen_at;
  };

  void Post(void (TransferRun::*event)());
  absl::Duration Now() const { return deps_.clock.Monotonic(); }

  // Fetching.
  void Open();
  bool IsSingle() const;
  // The latest end of a file that began, or goes on, at `from`.
  absl::Duration DeadlineFrom(absl::Duration from) const;
  void TakeSlot();
  std::optional<size_t> NextPart() const;
  void UpdateWanted();
  int CountReady(int limit) const;
  void SplitForSpareSlots(int wanted);
  void StartRequest(size_t index);
  http::Request BuildRequest(const PartRequest& part, bool fresh) const;
  absl::Duration RequestTime(int64_t bytes) const;
  // Gives what runs the time that the cap in force now makes it take.
  void FollowPace();
  void AfterFirstHead();
  void PlanAroundParts();
  void HandleDone(uint64_t key, const PartResult& result);
  void AccountFor(const Running& running, const PartResult& result);
  void HandleFailure(size_t index, int generation, const PartResult& result);
  void RetryLater(Part& part, const PartResult& result, Outcome outcome);
  absl::Status RecordDone(Part& part);
  void RecordProgress();
  void RequestCatchUp();
  void CatchUp();
  void CheckRunning();
  void AbandonRequest(uint64_t key, absl::string_view why);

  // Signing.
  void SignAgain();
  void AfterSigning(absl::StatusOr<Source> source);
  void AfterFailedSigning(const absl::Status& status);

  // Ending.
  void Verify();
  void CompareDigests();
  void Commit(const std::string& sha256, int64_t size);
  void AfterCommit(const absl::Status& status);
  void Restart(absl::string_view why, Outcome outcome);
  void FetchAgain();
  void Stop(void (TransferRun::*then)());
  void Fail(Outcome outcome, absl::string_view message);
  // What follows from an error of the storage's: the end, or a new start where
  // it lost bytes.
  void FailByStorage(const absl::Status& error);
  void NoteRoomNeeded();
  void RecordAndEnd();
  void DiscardAndEnd();
  void End();

  const uint64_t handle_;
  const TransferTask task_;
  const EngineDeps& deps_;
  const EngineOptions& options_;
  TransferHost& host_;
  Strand strand_;

  std::atomic<int64_t> bytes_done_ = 0;
  std::atomic<int64_t> size_ = -1;

  // What follows belongs to the strand.
  State state_ = State::kNew;
  Source source_;
  // The size that the last signing told.
  std::optional<int64_t> signed_size_;
  std::vector<Part> parts_;
  std::map<uint64_t, Running> running_;
  uint64_t next_key_ = 0;
  absl::Duration started_at_;
  absl::Duration deadline_;
  // The bandwidth cap by which the deadlines were set.
  int64_t cap_ = 0;
  // Set by Open() before any request starts, then left alone, so that the
  // transport's threads may use what it points to.
  std::unique_ptr<PartialBlob> blob_;
  // Whether parts of an earlier attempt are counted on.
  bool resuming_ = false;
  // Whether one request of known size is all there is, about which the head of
  // its answer changes nothing. Set while nothing runs.
  bool single_ = false;
  // Whether the first answer has settled what the object is.
  bool adopted_ = false;
  bool whole_only_ = false;
  int restarts_ = 0;
  // Signatures after the first, and how often one was refused before any
  // byte came.
  bool signing_ = false;
  int generation_ = 0;
  int refusals_ = 0;
  int failed_signings_ = 0;
  void (TransferRun::*after_stop_)() = nullptr;
  TransferReport report_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_RUN_H_
