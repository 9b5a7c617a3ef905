#include "services/download_worker/lease/lease_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "services/common/failpoint.h"
#include "services/common/logging.h"

namespace bimbackup::worker_lease {
namespace {

// How often the loop looks at what nobody notifies it of.
constexpr absl::Duration kLookInterval = absl::Seconds(1);
// How long after a drain's grace the last results may take.
constexpr absl::Duration kFarewellTime = absl::Seconds(5);

// Transfers that have ended so far.
int64_t Ended(const engine::DownloadEngine& engine) {
  const engine::EngineTotals totals = engine.totals();
  return totals.stored + totals.failed;
}

}  // namespace

LeaseLoop::LeaseLoop(Clock& clock, Random& random, WorkerPool& pool,
                     engine::DownloadEngine& engine,
                     const LeaseOptions& options)
    : clock_(clock),
      random_(random),
      pool_(pool),
      engine_(engine),
      options_(options) {}

LeaseLoop::~LeaseLoop() { Stop(); }

void LeaseLoop::Start() {
  last_renewal_ = clock_.Monotonic();
  thread_ = std::thread([this] { Run(); });
}

void LeaseLoop::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  pool_.Cancel();
  if (thread_.joinable()) thread_.join();
}

void LeaseLoop::Drain(absl::Duration grace) {
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = !connection_.draining;
    connection_.draining = true;
    drain_deadline_ = std::min(drain_deadline_, clock_.Monotonic() + grace);
  }
  if (first) {
    spdlog::info("draining");
    engine_.ReleaseQueued("the worker drains");
  }
  changed_.NotifyAll();
}

std::optional<absl::Status> LeaseLoop::Wait(absl::Duration timeout) {
  const absl::Duration deadline = clock_.Monotonic() + timeout;
  MutexLock lock(mutex_);
  while (!ended_.has_value()) {
    if (!clock_.WaitUntil(mutex_, changed_, deadline)) break;
  }
  return ended_;
}

Connection LeaseLoop::connection() const {
  MutexLock lock(mutex_);
  return connection_;
}

void LeaseLoop::Run() {
  while (Round()) {
  }
}

void LeaseLoop::End(absl::Status status) {
  {
    MutexLock lock(mutex_);
    ended_ = std::move(status);
  }
  changed_.NotifyAll();
}

bool LeaseLoop::Round() {
  if (!WaitUntilDue()) return false;
  const SyncRequest request = BuildRequest();
  const absl::Duration started = clock_.Monotonic();
  const absl::StatusOr<SyncResponse> response = Call(request);
  if (response.ok()) {
    last_renewal_ = started;
    failures_ = 0;
    Apply(request, *response);
    return true;
  }
  return HandleError(response.status());
}

bool LeaseLoop::IsDrained() const {
  if (!connection_.draining) return false;
  if (farewell_said_) return true;
  // Nothing to give back, and nobody to say farewell to.
  if (book_.held() == 0 && !connection_.error.empty()) return true;
  return clock_.Monotonic() > drain_deadline_ + kFarewellTime;
}

bool LeaseLoop::IsDue() const {
  const auto first = book_.first_result_at();
  const absl::Duration now = clock_.Monotonic();
  if (now < not_before_) return false;
  if (!first.has_value()) {
    // A drain that has nothing left says so at once.
    return connection_.draining && book_.held() == 0;
  }
  if (book_.results() >= static_cast<int>(LeaseBook::kResultsPerCall)) {
    return true;
  }
  const bool hungry = engine_.queued() < std::min(engine_.slots(), ahead_) / 2;
  return now - *first >= (hungry || connection_.draining
                              ? options_.gather_delay
                              : options_.result_delay);
}

absl::Duration LeaseLoop::NextLook() const {
  const absl::Duration now = clock_.Monotonic();
  absl::Duration next = now + kLookInterval;
  if (now < not_before_) next = std::min(next, not_before_);
  if (!drain_pressed_) next = std::min(next, drain_deadline_);
  if (book_.results() > 0) next = std::min(next, now + options_.gather_delay);
  return next;
}

bool LeaseLoop::WaitUntilDue() {
  for (;;) {
    PressDrain();
    MutexLock lock(mutex_);
    if (stopping_) return false;
    if (IsDrained()) {
      ended_ = absl::OkStatus();
      changed_.NotifyAll();
      return false;
    }
    const bool waiting = clock_.Monotonic() < not_before_;
    // Without results the next call goes out at once, to be held.
    if (IsDue() || (!waiting && book_.results() == 0)) return true;
    clock_.WaitUntil(mutex_, changed_, NextLook());
  }
}

void LeaseLoop::PressDrain() {
  {
    MutexLock lock(mutex_);
    if (drain_pressed_ || clock_.Monotonic() < drain_deadline_) return;
    drain_pressed_ = true;
  }
  for (const engine::TransferProgress& transfer : engine_.Progress()) {
    engine_.Release(transfer.handle, "the worker drains");
  }
}

SyncRequest LeaseLoop::BuildRequest() {
  std::map<int64_t, int64_t> bytes_done;
  for (const engine::TransferProgress& transfer : engine_.Progress()) {
    bytes_done[transfer.transfer_id] = transfer.bytes_done;
  }
  SyncRequest request;
  request.bytes_received = engine_.totals().bytes_received;
  request.storage_problem = engine_.storage_problem();
  const int slots = engine_.slots();
  ahead_ = lookahead_.Transfers(Ended(engine_), clock_.Monotonic(), slots);
  MutexLock lock(mutex_);
  request.results = book_.NextResults();
  for (const LeaseKey& key : book_.HeldBeside(request.results)) {
    const auto it = bytes_done.find(key.transfer_id);
    request.held.push_back({key, it == bytes_done.end() ? 0 : it->second});
  }
  request.draining = connection_.draining;
  if (!request.draining && request.storage_problem.empty()) {
    request.free_slots = std::max(0, slots + ahead_ - book_.unfinished());
  }
  const bool farewell = request.draining && book_.held() == 0;
  request.may_hold = request.results.empty() && !farewell &&
                     request.storage_problem == reported_problem_ &&
                     connection_.connected;
  return request;
}

absl::StatusOr<SyncResponse> LeaseLoop::Call(const SyncRequest& request) {
  {
    MutexLock lock(mutex_);
    answer_.reset();
  }
  if (!request.results.empty()) MaybeCrash("worker.before_report");
  pool_.Synchronize(request,
                    (request.may_hold ? options_.hold : absl::ZeroDuration()) +
                        options_.call_timeout,
                    [this](absl::StatusOr<SyncResponse> response) {
                      MutexLock lock(mutex_);
                      answer_ = std::move(response);
                      changed_.NotifyAll();
                    });
  bool cancelled = false;
  for (;;) {
    PressDrain();
    const bool problem_changed =
        engine_.storage_problem() != request.storage_problem;
    {
      MutexLock lock(mutex_);
      if (answer_.has_value()) break;
      const bool wants_to_tell = IsDue() || problem_changed ||
                                 connection_.draining != request.draining;
      if (cancelled || !(stopping_ || (request.may_hold && wants_to_tell))) {
        clock_.WaitUntil(mutex_, changed_, NextLook());
        continue;
      }
    }
    cancelled = true;
    pool_.Cancel();
  }
  MutexLock lock(mutex_);
  if (absl::IsCancelled(answer_->status()) && !cancelled && !stopping_) {
    return absl::UnavailableError("the coordinator broke the call off");
  }
  return *std::move(answer_);
}

void LeaseLoop::Apply(const SyncRequest& request,
                      const SyncResponse& response) {
  lease_life_ = response.lease_life;
  if (response.max_bandwidth != max_bandwidth_) {
    max_bandwidth_ = response.max_bandwidth;
    if (options_.on_bandwidth) options_.on_bandwidth(max_bandwidth_);
  }
  DropLost(response.revoked);
  {
    MutexLock lock(mutex_);
    if (!connection_.connected) spdlog::info("connected to the coordinator");
    connection_.connected = true;
    connection_.error.clear();
    reported_problem_ = request.storage_problem;
    for (const int64_t id : response.acknowledged) book_.Acknowledge(id);
    const int before = book_.results();
    const int dropped = book_.CountUnanswered(request.results);
    if (dropped > 0) {
      spdlog::warn("{} results were never acknowledged", dropped);
    }
    farewell_said_ =
        request.draining && request.held.empty() && book_.held() == 0;
    // Nothing went: no hurry to say the same again.
    if (!request.results.empty() && before > 0 &&
        book_.first_result_at().has_value() && response.acknowledged.empty()) {
      not_before_ = clock_.Monotonic() + options_.result_delay;
    }
  }
  TakeGrants(response.granted);
  if (response.drain) Drain(options_.drain_grace);
}

void LeaseLoop::DropLost(const std::vector<int64_t>& revoked) {
  std::vector<uint64_t> handles;
  {
    MutexLock lock(mutex_);
    for (const int64_t id : revoked) {
      for (const uint64_t handle : book_.LoseTransfer(id)) {
        handles.push_back(handle);
      }
    }
  }
  for (const uint64_t handle : handles) {
    engine_.Release(handle, "the lease is lost");
  }
}

void LeaseLoop::TakeGrants(const std::vector<engine::TransferTask>& granted) {
  for (const engine::TransferTask& task : granted) {
    const LeaseKey key{task.transfer_id, task.epoch};
    {
      MutexLock lock(mutex_);
      if (!book_.Add(key)) continue;
    }
    const uint64_t handle = engine_.Submit(
        task, [this, key](uint64_t, const engine::TransferReport& report) {
          {
            MutexLock lock(mutex_);
            book_.Finish(key, report, clock_.Monotonic());
          }
          changed_.NotifyAll();
        });
    MutexLock lock(mutex_);
    book_.SetHandle(key, handle);
  }
}

bool LeaseLoop::HandleError(const absl::Status& status) {
  if (absl::IsCancelled(status)) return true;
  if (absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status)) {
    End(absl::FailedPreconditionError(status.message()));
    return false;
  }
  ++failures_;
  {
    MutexLock lock(mutex_);
    const std::string error(status.message());
    if (connection_.connected || failures_ == 1) {
      spdlog::warn("cannot reach the coordinator: {}", error);
    }
    connection_.connected = false;
    connection_.error = error;
    not_before_ =
        clock_.Monotonic() + options_.reconnect.Delay(failures_, random_);
  }
  if (clock_.Monotonic() - last_renewal_ > lease_life_) DropUnstarted();
  return true;
}

void LeaseLoop::DropUnstarted() {
  for (const engine::TransferProgress& transfer : engine_.Progress()) {
    if (transfer.running || transfer.transfer_id == 0) continue;
    {
      MutexLock lock(mutex_);
      book_.LoseTransfer(transfer.transfer_id);
    }
    engine_.Release(transfer.handle, "its lease was not renewed");
  }
}

}  // namespace bimbackup::worker_lease
