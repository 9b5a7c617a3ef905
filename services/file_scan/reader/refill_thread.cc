#include "services/file_scan/reader/refill_thread.h"

#include <pthread.h>
#include <time.h>

#include <utility>

namespace bimbackup::file_scan::reader {

RefillThread::RefillThread(std::function<void()> work)
    : work_(std::move(work)), thread_([this] { Run(); }) {}

RefillThread::~RefillThread() {
  {
    MutexLock lock(mutex_);
    while (state_ == State::kPosted) changed_.Wait(mutex_);
    state_ = State::kStopped;
    changed_.NotifyAll();
  }
  thread_.join();
}

void RefillThread::Post() {
  MutexLock lock(mutex_);
  state_ = State::kPosted;
  changed_.NotifyAll();
}

void RefillThread::Await() {
  MutexLock lock(mutex_);
  while (state_ != State::kDone) changed_.Wait(mutex_);
  state_ = State::kIdle;
}

absl::Duration RefillThread::cpu() {
  clockid_t clock{};
  timespec time{};
  if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return absl::ZeroDuration();
  }
  return absl::DurationFromTimespec(time);
}

void RefillThread::Run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (state_ == State::kIdle || state_ == State::kDone) {
        changed_.Wait(mutex_);
      }
      if (state_ == State::kStopped) return;
    }
    work_();
    MutexLock lock(mutex_);
    state_ = State::kDone;
    changed_.NotifyAll();
  }
}

}  // namespace bimbackup::file_scan::reader
