#include "services/download_worker/engine/executor.h"

#include <utility>

namespace bimbackup::engine {

Executor::Executor(Clock& clock, int threads) : clock_(clock) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

Executor::~Executor() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    timers_.clear();
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Executor::Post(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

void Executor::PostAt(absl::Duration when, std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    timers_.emplace(when, std::move(task));
  }
  changed_.NotifyOne();
}

void Executor::TakeDue() {
  while (!timers_.empty() && timers_.begin()->first <= clock_.Monotonic()) {
    tasks_.push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
}

void Executor::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      for (TakeDue(); tasks_.empty(); TakeDue()) {
        if (stopping_) return;
        clock_.WaitUntil(mutex_, changed_,
                         timers_.empty() ? absl::InfiniteDuration()
                                         : timers_.begin()->first);
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
      if (!tasks_.empty()) changed_.NotifyOne();
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
  state->executor.Post([state] { RunOne(state); });
}

void Strand::Close() {
  MutexLock lock(state_->mutex);
  state_->closed = true;
}

void Strand::RunOne(const std::shared_ptr<State>& state) {
  std::function<void()> task;
  {
    MutexLock lock(state->mutex);
    task = std::move(state->tasks.front());
    state->tasks.pop_front();
  }
  task();
  // What the task holds goes before another may run.
  task = nullptr;
  {
    MutexLock lock(state->mutex);
    if (state->tasks.empty()) {
      state->scheduled = false;
      return;
    }
  }
  // One task a turn, so that a busy strand does not keep a thread.
  state->executor.Post([state] { RunOne(state); });
}

}  // namespace bimbackup::engine
