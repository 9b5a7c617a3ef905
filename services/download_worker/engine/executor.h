// Threads for what takes long: opening, fsync, digesting; and timers.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_EXECUTOR_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_EXECUTOR_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::engine {

// Runs what is posted on threads of its own: few while none of it waits long,
// because handing small tasks from thread to thread costs more than they do;
// one more whenever a task has waited too long, up to all of them, because
// some block on the storage. The callers bound what waits: a few events for
// each transfer that is held. Thread-safe.
class Executor {
 public:
  // `clock` outlives the executor.
  Executor(Clock& clock, int threads);

  // Runs what is posted and not yet due for later, then joins. No more threads
  // become active any more: tasks must not wait for each other by then.
  ~Executor();

  // Runs `task` soon.
  void Post(std::function<void()> task);

  // Runs `task` once the clock's Monotonic() has reached `when`; never, when
  // the executor is destroyed before.
  void PostAt(absl::Duration when, std::function<void()> task);

  Clock& clock() const { return clock_; }

 private:
  struct Task {
    std::function<void()> run;
    // On the monotonic clock.
    absl::Duration posted_at;
  };

  void Run(int number);
  // Waits until the thread of this number may have something to do.
  void Wait(int number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // When the first of the spare threads must look again by itself.
  absl::Duration NextLook() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets one more thread in where the first task has waited too long.
  void Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Has a thread beside the active ones watch how long tasks wait.
  void Watch(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  Mutex mutex_;
  // For the threads that are active, and for the others.
  CondVar changed_;
  CondVar spare_changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::multimap<absl::Duration, std::function<void()>> timers_
      ABSL_GUARDED_BY(mutex_);
  // Threads of lower numbers take tasks.
  int active_ ABSL_GUARDED_BY(mutex_);
  // Active ones that wait.
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  // Until then thread number active_ looks every few milliseconds.
  absl::Duration watched_until_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// Runs what is posted on an executor, one at a time and in order. What is
// posted keeps its own targets alive. A handle: copies are the same strand.
// Thread-safe.
class Strand {
 public:
  // `executor` outlives everything that is posted before Close().
  explicit Strand(Executor& executor);

  void Post(std::function<void()> task);
  void PostAt(absl::Duration when, std::function<void()> task);

  // Drops what is posted from now on, so that the executor may go while
  // others still hold copies of the strand.
  void Close();

 private:
  struct State {
    explicit State(Executor& executor) : executor(executor) {}
    Executor& executor;
    Mutex mutex;
    std::deque<std::function<void()>> tasks ABSL_GUARDED_BY(mutex);
    bool scheduled ABSL_GUARDED_BY(mutex) = false;
    bool closed ABSL_GUARDED_BY(mutex) = false;
  };

  static void Enqueue(const std::shared_ptr<State>& state,
                      std::function<void()> task);
  // Some of what is posted, then lets others have the thread.
  static void RunSome(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_EXECUTOR_H_
