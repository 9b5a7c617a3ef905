#include "clients/restore/rpc/stall_watch.h"

namespace bimbackup::restore {

StallWatch::StallWatch(Clock& clock, absl::Duration patience)
    : clock_(clock), patience_(patience), thread_([this] { Run(); }) {}

StallWatch::~StallWatch() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void StallWatch::Run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    CancelExpired();
    absl::Duration next = absl::InfiniteDuration();
    for (const Waiting& waiting : waiting_) {
      if (!waiting.cancelled) next = std::min(next, waiting.deadline);
    }
    clock_.WaitUntil(mutex_, changed_, next);
  }
}

void StallWatch::CancelExpired() {
  const absl::Duration now = clock_.Monotonic();
  for (Waiting& waiting : waiting_) {
    if (waiting.deadline > now) return;
    if (waiting.cancelled) continue;
    waiting.cancelled = true;
    waiting.context->TryCancel();
  }
}

StallWatch::Wait::Wait(StallWatch& watch, grpc::ClientContext& context)
    : watch_(watch) {
  bool first = false;
  {
    MutexLock lock(watch_.mutex_);
    first = watch_.waiting_.empty();
    place_ = watch_.waiting_.insert(
        watch_.waiting_.end(),
        {&context, watch_.clock_.Monotonic() + watch_.patience_, false});
  }
  // Behind others the watch wakes in time anyway.
  if (first) watch_.changed_.NotifyAll();
}

StallWatch::Wait::~Wait() {
  MutexLock lock(watch_.mutex_);
  watch_.waiting_.erase(place_);
}

bool StallWatch::Wait::expired() const {
  MutexLock lock(watch_.mutex_);
  return place_->cancelled;
}

}  // namespace bimbackup::restore
