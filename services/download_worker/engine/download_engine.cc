#include "services/download_worker/engine/download_engine.h"

#include <algorithm>
#include <utility>

#include "services/common/logging.h"

namespace bimbackup::engine {
namespace {

constexpr absl::Duration kTickInterval = absl::Seconds(1);

}  // namespace

DownloadEngine::DownloadEngine(const EngineDeps& deps,
                               const EngineOptions& options)
    : deps_(deps),
      options_(options),
      pace_(options),
      concurrency_(options.slots, std::max(options.slots, options.max_slots)),
      schedule_(options.slots, options.large_from),
      gate_(deps.storage, options.probe_first, options.probe_longest,
            options.marker_interval),
      executor_(deps.clock, options.threads) {
  executor_.PostAt(deps_.clock.Monotonic() + kTickInterval, [this] { Tick(); });
}

DownloadEngine::~DownloadEngine() {
  std::vector<uint64_t> handles;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& [handle, entry] : entries_) handles.push_back(handle);
  }
  for (const uint64_t handle : handles) Release(handle, "the worker ends");
  MutexLock lock(mutex_);
  // Bounded: the transport ends what is cancelled, the storage its commits.
  while (!entries_.empty()) changed_.Wait(mutex_);
}

uint64_t DownloadEngine::Submit(TransferTask task, Done done) {
  uint64_t handle = 0;
  const int64_t size = SourceSize(task.source).value_or(0);
  TransferHost& host = *this;
  {
    MutexLock lock(mutex_);
    handle = ++last_handle_;
    Entry& entry = entries_[handle];
    entry.run = std::make_shared<TransferRun>(handle, std::move(task), deps_,
                                              options_, executor_, host);
    entry.done = std::move(done);
    schedule_.Enqueue(handle, size);
  }
  Pump();
  return handle;
}

void DownloadEngine::Release(uint64_t handle, const std::string& reason) {
  std::shared_ptr<TransferRun> run;
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(handle);
    if (it == entries_.end()) return;
    if (it->second.started) run = it->second.run;
  }
  if (run != nullptr) {
    run->Release(reason);
  } else {
    EndQueued(handle, reason);
  }
}

void DownloadEngine::EndQueued(uint64_t handle, const std::string& reason) {
  bool removed = false;
  std::shared_ptr<TransferRun> run;
  {
    MutexLock lock(mutex_);
    removed = schedule_.RemoveQueued(handle);
    const auto it = entries_.find(handle);
    // Started since the caller looked.
    if (!removed && it != entries_.end()) run = it->second.run;
  }
  if (removed) {
    TransferReport report;
    report.outcome = Outcome::kReleased;
    report.message = reason;
    OnEnded(handle, report);
  } else if (run != nullptr) {
    run->Release(reason);
  }
}

void DownloadEngine::ReleaseQueued(const std::string& reason) {
  std::vector<uint64_t> handles;
  {
    MutexLock lock(mutex_);
    handles = schedule_.Queued();
  }
  for (const uint64_t handle : handles) Release(handle, reason);
}

bool DownloadEngine::MayStart() const {
  return !stopping_ && storage_problem_.empty() &&
         (!storage_on_trial_ || started_ == 0) &&
         committing_ < options_.commits_at_once &&
         started_ - committing_ < 2 * concurrency_.slots();
}

void DownloadEngine::Pump() {
  for (;;) {
    std::shared_ptr<TransferRun> run;
    bool start = false;
    {
      MutexLock lock(mutex_);
      const auto grant = schedule_.Next(MayStart());
      if (!grant.has_value()) return;
      Entry& entry = entries_.at(grant->handle);
      run = entry.run;
      start = grant->start;
      if (start) {
        entry.started = true;
        ++started_;
      }
    }
    if (start) {
      run->Start();
    } else {
      run->OnSlot();
    }
  }
}

void DownloadEngine::SetWanted(uint64_t handle, int slots) {
  {
    MutexLock lock(mutex_);
    schedule_.SetWanted(handle, slots);
  }
  if (slots > 0) Pump();
}

void DownloadEngine::ReleaseSlot(uint64_t handle) {
  {
    MutexLock lock(mutex_);
    schedule_.Release(handle);
  }
  Pump();
}

void DownloadEngine::OnCommitting(uint64_t handle) {
  {
    MutexLock lock(mutex_);
    entries_.at(handle).committing = true;
    ++committing_;
  }
  Pump();
}

void DownloadEngine::OnRequestEnded(absl::Duration took, bool overloaded) {
  MutexLock lock(mutex_);
  concurrency_.CountEnd(took, overloaded);
}

int DownloadEngine::SpareSlots() const {
  MutexLock lock(mutex_);
  return schedule_.SpareSlots();
}

void DownloadEngine::AdaptSlots() {
  const int before = concurrency_.slots();
  concurrency_.CountBytes(moved_.exchange(0));
  if (!concurrency_.Tick(deps_.clock.Monotonic(), schedule_.slots_in_use(),
                         pace_.capped())) {
    return;
  }
  spdlog::debug("{} requests at once instead of {}", concurrency_.slots(),
                before);
  schedule_.SetSlots(concurrency_.slots());
}

void DownloadEngine::Count(const TransferReport& report) {
  totals_.bytes_received += report.bytes_received;
  if (report.outcome == Outcome::kStored) {
    ++totals_.stored;
  } else if (report.outcome != Outcome::kReleased) {
    ++totals_.failed;
  }
}

void DownloadEngine::OnEnded(uint64_t handle, const TransferReport& report) {
  if (report.outcome == Outcome::kStorageFailed ||
      report.outcome == Outcome::kStorageClosed) {
    MutexLock gate_lock(gate_mutex_);
    gate_.Close(report.message, report.room_needed, deps_.clock.Monotonic());
    CopyGate();
  } else if (report.outcome == Outcome::kStored) {
    MutexLock gate_lock(gate_mutex_);
    gate_.OnStored();
    CopyGate();
  }
  Done done;
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(handle);
    if (it->second.started) --started_;
    if (it->second.committing) --committing_;
    done = std::move(it->second.done);
    schedule_.End(handle);
    Count(report);
  }
  done(handle, report);
  // The entry goes last: the destructor waits for it.
  std::shared_ptr<TransferRun> run;
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(handle);
    run = std::move(it->second.run);
    entries_.erase(it);
  }
  Pump();
  changed_.NotifyAll();
}

void DownloadEngine::CopyGate() {
  MutexLock lock(mutex_);
  storage_problem_ = gate_.problem();
  storage_on_trial_ = gate_.on_trial();
}

void DownloadEngine::Tick() {
  {
    MutexLock gate_lock(gate_mutex_);
    gate_.Probe(deps_.clock.Monotonic());
    CopyGate();
  }
  std::vector<std::shared_ptr<TransferRun>> runs;
  {
    MutexLock lock(mutex_);
    if (stopping_ && entries_.empty()) return;
    AdaptSlots();
    for (const auto& [handle, entry] : entries_) {
      if (entry.started) runs.push_back(entry.run);
    }
  }
  for (const auto& run : runs) run->Tick();
  Pump();
  executor_.PostAt(deps_.clock.Monotonic() + kTickInterval, [this] { Tick(); });
}

std::vector<TransferProgress> DownloadEngine::Progress() const {
  std::vector<TransferProgress> all;
  MutexLock lock(mutex_);
  for (const auto& [handle, entry] : entries_) {
    if (entry.run == nullptr) continue;
    all.push_back({.handle = handle,
                   .transfer_id = entry.run->task().transfer_id,
                   .display_path = entry.run->task().display_path,
                   .bytes_done = entry.run->bytes_done(),
                   .size = entry.run->size(),
                   .running = entry.started});
  }
  return all;
}

EngineTotals DownloadEngine::totals() const {
  MutexLock lock(mutex_);
  return totals_;
}

std::string DownloadEngine::storage_problem() const {
  MutexLock lock(mutex_);
  return storage_problem_;
}

int DownloadEngine::slots() const {
  MutexLock lock(mutex_);
  return concurrency_.slots();
}

int DownloadEngine::queued() const {
  MutexLock lock(mutex_);
  return schedule_.queued();
}

int DownloadEngine::held() const {
  MutexLock lock(mutex_);
  return static_cast<int>(entries_.size());
}

bool DownloadEngine::HasFreeSlot() const {
  MutexLock lock(mutex_);
  return MayStart() && schedule_.queued() == 0 &&
         schedule_.slots_in_use() < concurrency_.slots();
}

}  // namespace bimbackup::engine
