// A few threads that work off a short queue.

#ifndef CLIENTS_RESTORE_TASK_POOL_H_
#define CLIENTS_RESTORE_TASK_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "services/common/mutex.h"

namespace bimbackup::restore {

// Thread-safe.
class TaskPool {
 public:
  // Holds twice as many waiting tasks as it has threads.
  explicit TaskPool(int threads);
  // Does what was submitted, then ends.
  ~TaskPool();

  // Waits for a place in the queue.
  void Submit(std::function<void()> task);

  // Waits until everything submitted is done.
  void Drain();

 private:
  void Run();

  const size_t max_queued_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_TASK_POOL_H_
