#include "clients/bim360/api_limiter.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace bimbackup::bim360 {
namespace {

// A little more than the published rates' minute, for clocks that do not run
// at quite the same speed.
absl::Duration Window(double budget) {
  const double speed = std::isfinite(budget) ? std::max(budget, 1.0) : 1.0;
  return absl::Minutes(1) / speed + absl::Milliseconds(20);
}

int PublishedRate(EndpointClass endpoint_class) {
  switch (endpoint_class) {
    case EndpointClass::kToken:
      return 500;
    case EndpointClass::kProjects:
      return 50;
    case EndpointClass::kFolders:
      return 300;
    case EndpointClass::kStorage:
      return 1000;
  }
  return 1;
}

absl::Status Cancelled() {
  return absl::CancelledError("the call to Autodesk was cancelled");
}

}  // namespace

absl::string_view EndpointClassName(EndpointClass endpoint_class) {
  switch (endpoint_class) {
    case EndpointClass::kToken:
      return "token";
    case EndpointClass::kProjects:
      return "projects";
    case EndpointClass::kFolders:
      return "folders";
    case EndpointClass::kStorage:
      return "storage";
  }
  return "unknown";
}

ApiLimiter::ApiLimiter(double budget, Clock& clock)
    : clock_(clock), budget_(budget) {}

void ApiLimiter::SetBudget(double budget) {
  MutexLock lock(mutex_);
  budget_ = budget;
  WakeAll();
}

double ApiLimiter::budget() const {
  MutexLock lock(mutex_);
  return budget_;
}

double ApiLimiter::CallsPerMinute(EndpointClass endpoint_class) const {
  return PublishedRate(endpoint_class) * budget();
}

size_t ApiLimiter::CallsPerWindow(EndpointClass endpoint_class) const {
  if (std::isinf(budget_)) return 0;
  const double share = std::min(budget_, 1.0);
  return std::max<size_t>(
      1, static_cast<size_t>(PublishedRate(endpoint_class) * share));
}

absl::Duration ApiLimiter::NextTurn(EndpointClass endpoint_class) const {
  const ClassState& state = classes_[static_cast<size_t>(endpoint_class)];
  const size_t allowed = CallsPerWindow(endpoint_class);
  if (allowed == 0) return state.usage.paused_until;
  if (state.running >= allowed) return absl::InfiniteDuration();
  // A budget that shrank looks at fewer of the calls that are remembered.
  const size_t ended = allowed - state.running;
  if (state.recent.size() < ended) return state.usage.paused_until;
  const auto oldest = state.recent.end() - static_cast<ptrdiff_t>(ended);
  return std::max(state.usage.paused_until, *oldest + Window(budget_));
}

absl::StatusOr<ApiLimiter::Turn> ApiLimiter::Acquire(
    EndpointClass endpoint_class, absl::Duration deadline,
    const std::stop_token& cancel) {
  Waiter self;
  // Outside of the lock, which it takes.
  const std::stop_callback wake(cancel, [this, &self] {
    MutexLock lock(mutex_);
    self.changed.NotifyAll();
  });
  MutexLock lock(mutex_);
  ClassState& state = classes_[static_cast<size_t>(endpoint_class)];
  const absl::Duration asked = clock_.Monotonic();
  state.queue.push_back(&self);
  ++state.usage.waiting;
  const absl::Status status = AwaitTurn(endpoint_class, self, deadline, cancel);
  --state.usage.waiting;
  std::erase(state.queue, &self);
  state.usage.waited += clock_.Monotonic() - asked;
  WakeOldest(state);
  if (!status.ok()) return status;
  ++state.usage.calls;
  ++state.running;
  return Turn(*this, endpoint_class);
}

void ApiLimiter::WakeOldest(ClassState& state) {
  if (!state.queue.empty()) state.queue.front()->changed.NotifyAll();
}

void ApiLimiter::WakeAll() {
  for (ClassState& state : classes_) {
    for (Waiter* waiter : state.queue) waiter->changed.NotifyAll();
  }
}

void ApiLimiter::End(EndpointClass endpoint_class) {
  MutexLock lock(mutex_);
  ClassState& state = classes_[static_cast<size_t>(endpoint_class)];
  --state.running;
  state.recent.push_back(clock_.Monotonic());
  // As many as any budget looks at.
  if (state.recent.size() >
      static_cast<size_t>(PublishedRate(endpoint_class))) {
    state.recent.pop_front();
  }
  WakeOldest(state);
}

absl::Status ApiLimiter::AwaitTurn(EndpointClass endpoint_class, Waiter& self,
                                   absl::Duration deadline,
                                   const std::stop_token& cancel) {
  ClassState& state = classes_[static_cast<size_t>(endpoint_class)];
  while (!cancelled_ && !cancel.stop_requested()) {
    const absl::Duration now = clock_.Monotonic();
    absl::Duration until = deadline;
    if (state.queue.front() == &self) {
      const absl::Duration turn = NextTurn(endpoint_class);
      if (turn <= now) return absl::OkStatus();
      if (turn != absl::InfiniteDuration()) until = turn;
    }
    if (now >= deadline || (until > deadline && until > now)) {
      return absl::DeadlineExceededError(absl::StrCat(
          "Autodesk's rate for ", EndpointClassName(endpoint_class),
          " calls leaves no room before the deadline"));
    }
    clock_.WaitUntil(mutex_, self.changed, until);
  }
  return Cancelled();
}

void ApiLimiter::Pause(EndpointClass endpoint_class, absl::Duration pause) {
  MutexLock lock(mutex_);
  Usage& usage = classes_[static_cast<size_t>(endpoint_class)].usage;
  usage.paused_until = std::max(usage.paused_until, clock_.Monotonic() + pause);
  WakeAll();
}

void ApiLimiter::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  WakeAll();
}

ApiLimiter::Usage ApiLimiter::GetUsage(EndpointClass endpoint_class) const {
  MutexLock lock(mutex_);
  return classes_[static_cast<size_t>(endpoint_class)].usage;
}

}  // namespace bimbackup::bim360
