// Threads for calls that wait for the catalog, the storage or Autodesk, so
// that gRPC's own never do.

#ifndef SERVICES_COORDINATOR_RPC_WORK_QUEUE_H_
#define SERVICES_COORDINATOR_RPC_WORK_QUEUE_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "services/common/mutex.h"

namespace bimbackup::coordinator_rpc {

// A bounded queue, worked off by a bounded number of threads that are started
// as they are needed. Thread-safe.
class WorkQueue {
 public:
  WorkQueue(int max_threads, int max_queued)
      : max_threads_(max_threads), max_queued_(max_queued) {}
  // Does what is queued, then ends.
  ~WorkQueue();

  // Returns false where the queue is full.
  bool Submit(std::function<void()> work);

 private:
  void Run();

  const int max_threads_;
  const int max_queued_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_WORK_QUEUE_H_
