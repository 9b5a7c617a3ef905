#include "services/coordinator/rpc/work_queue.h"

#include <utility>

namespace bimbackup::coordinator_rpc {

WorkQueue::~WorkQueue() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

bool WorkQueue::Submit(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (stopping_ || static_cast<int>(queue_.size()) >= max_queued_) {
    return false;
  }
  queue_.push_back(std::move(work));
  if (idle_ < static_cast<int>(queue_.size()) &&
      static_cast<int>(threads_.size()) < max_threads_) {
    threads_.emplace_back([this] { Run(); });
  } else {
    changed_.NotifyOne();
  }
  return true;
}

void WorkQueue::Run() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      --idle_;
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace bimbackup::coordinator_rpc
