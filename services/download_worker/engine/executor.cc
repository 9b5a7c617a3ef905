#include "services/download_worker/engine/executor.h"

#include <algorithm>
#include <utility>

namespace bimbackup::engine {
namespace {

// Threads that are always active: one may block, or be busy with a digest.
constexpr int kLeastActive = 2;
// How long a task waits before another thread is active.
constexpr absl::Duration kPatience = absl::Milliseconds(2);
// For how long tasks are watched once one had to wait: starting to watch costs
// switches between threads, which are saved for each task otherwise.
constexpr absl::Duration kWatchTime = absl::Milliseconds(100);
// However little is posted, thread number active_ looks so often: timers may
// come due while all active ones block.
constexpr absl::Duration kLongestWait = absl::Seconds(1);
// Tasks of a strand in one turn, so that a busy one does not keep a thread.
constexpr int kTasksPerTurn = 4;

}  // namespace

Executor::Executor(Clock& clock, int threads)
    : clock_(clock),
      active_(std::min(threads, kLeastActive)),
      watched_until_(-absl::InfiniteDuration()) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { Run(i); });
  }
}

Executor::~Executor() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    timers_.clear();
  }
  changed_.NotifyAll();
  spare_changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Executor::Post(std::function<void()> task) {
  const absl::Duration now = clock_.Monotonic();
  bool idle = false;
  {
    MutexLock lock(mutex_);
    tasks_.push_back({std::move(task), now});
    idle = idle_ > 0;
    if (!idle) Watch(now);
  }
  if (idle) changed_.NotifyOne();
}

void Executor::PostAt(absl::Duration when, std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    timers_.emplace(when, std::move(task));
  }
  changed_.NotifyOne();
  spare_changed_.NotifyAll();
}

void Executor::TakeDue() {
  if (timers_.empty()) return;
  const absl::Duration now = clock_.Monotonic();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    tasks_.push_back({std::move(timers_.begin()->second), now});
    timers_.erase(timers_.begin());
  }
}

void Executor::Watch(absl::Duration now) {
  if (now < watched_until_) return;
  watched_until_ = now + kWatchTime;
  spare_changed_.NotifyAll();
}

void Executor::Grow() {
  const absl::Duration now = clock_.Monotonic();
  if (tasks_.empty() || now - tasks_.front().posted_at < kPatience) return;
  ++active_;
  watched_until_ = now + kWatchTime;
  spare_changed_.NotifyAll();
}

absl::Duration Executor::NextLook() {
  const absl::Duration now = clock_.Monotonic();
  const bool watched = now < watched_until_ || !tasks_.empty();
  const absl::Duration next = now + (watched ? kPatience : kLongestWait);
  return timers_.empty() ? next : std::min(next, timers_.begin()->first);
}

void Executor::Wait(int number) {
  if (number < active_) {
    ++idle_;
    clock_.WaitUntil(
        mutex_, changed_,
        timers_.empty() ? absl::InfiniteDuration() : timers_.begin()->first);
    --idle_;
  } else if (number == active_) {
    clock_.WaitUntil(mutex_, spare_changed_, NextLook());
    TakeDue();
    // One that waits may not know of the timer, another not of the task.
    if (!tasks_.empty() && idle_ > 0) changed_.NotifyOne();
    if (number == active_) Grow();
  } else {
    spare_changed_.Wait(mutex_);
  }
}

void Executor::Run(int number) {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      for (TakeDue(); tasks_.empty() || number >= active_; TakeDue()) {
        if (stopping_ && (tasks_.empty() || number >= active_)) return;
        // The last to come is the first to go.
        if (number == active_ - 1 && number >= kLeastActive) --active_;
        Wait(number);
      }
      task = std::move(tasks_.front().run);
      tasks_.pop_front();
      if (!tasks_.empty()) {
        if (idle_ > 0) {
          changed_.NotifyOne();
        } else {
          Watch(clock_.Monotonic());
        }
      }
    }
    task();
  }
}

Strand::Strand(Executor& executor)
    : state_(std::make_shared<State>(executor)) {}

void Strand::Post(std::function<void()> task) {
  Enqueue(state_, std::move(task));
}

void Strand::PostAt(absl::Duration when, std::function<void()> task) {
  state_->executor.PostAt(when,
                          [state = state_, task = std::move(task)]() mutable {
                            Enqueue(state, std::move(task));
                          });
}

void Strand::Enqueue(const std::shared_ptr<State>& state,
                     std::function<void()> task) {
  MutexLock lock(state->mutex);
  if (state->closed) return;
  state->tasks.push_back(std::move(task));
  if (state->scheduled) return;
  state->scheduled = true;
  // Under the lock, so that Close() returns after it.
  state->executor.Post([state] { RunSome(state); });
}

void Strand::Close() {
  MutexLock lock(state_->mutex);
  state_->closed = true;
}

void Strand::RunSome(const std::shared_ptr<State>& state) {
  for (int i = 0; i < kTasksPerTurn; ++i) {
    std::function<void()> task;
    {
      MutexLock lock(state->mutex);
      if (state->tasks.empty()) {
        state->scheduled = false;
        return;
      }
      task = std::move(state->tasks.front());
      state->tasks.pop_front();
    }
    task();
    // What the task holds goes before another may run, or the mutex is held.
    task = nullptr;
  }
  state->executor.Post([state] { RunSome(state); });
}

}  // namespace bimbackup::engine
