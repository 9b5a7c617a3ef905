#include "services/bim360_emulator/work_queue.h"

#include <utility>

namespace bimbackup::bim360_emulator {
namespace {

constexpr size_t kMaxWaiting = 10'000;

}  // namespace

WorkQueue::WorkQueue(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

bool WorkQueue::Post(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (stopping_ || waiting_.size() >= kMaxWaiting) return false;
  waiting_.push_back(std::move(work));
  changed_.NotifyOne();
  return true;
}

void WorkQueue::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkQueue::Run() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace bimbackup::bim360_emulator
