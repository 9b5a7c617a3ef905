// Threads for what would hold up the connections: digests of large files,
// scans of a folder tree.

#ifndef SERVICES_BIM360_EMULATOR_WORK_QUEUE_H_
#define SERVICES_BIM360_EMULATOR_WORK_QUEUE_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "services/common/mutex.h"

namespace bimbackup::bim360_emulator {

// Thread-safe.
class WorkQueue {
 public:
  explicit WorkQueue(int threads);
  // Drops what has not begun and waits for what has.
  ~WorkQueue() { Stop(); }

  // Runs `work` soon; returns false when too much is waiting or after Stop().
  bool Post(std::function<void()> work);
  void Stop();

 private:
  void Run();

  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_WORK_QUEUE_H_
