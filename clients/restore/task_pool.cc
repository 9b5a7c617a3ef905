#include "clients/restore/task_pool.h"

#include <utility>

namespace bimbackup::restore {

TaskPool::TaskPool(int threads) : max_queued_(2 * threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

TaskPool::~TaskPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void TaskPool::Submit(std::function<void()> task) {
  MutexLock lock(mutex_);
  while (queue_.size() >= max_queued_) changed_.Wait(mutex_);
  queue_.push_back(std::move(task));
  changed_.NotifyAll();
}

void TaskPool::Drain() {
  MutexLock lock(mutex_);
  while (!queue_.empty() || running_ > 0) changed_.Wait(mutex_);
}

void TaskPool::Run() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
      changed_.NotifyAll();
    }
    task();
    task = nullptr;
    MutexLock lock(mutex_);
    --running_;
    changed_.NotifyAll();
  }
}

}  // namespace bimbackup::restore
