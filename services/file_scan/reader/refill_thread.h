// The thread that refills an asynchronous reader's buffer.

#ifndef SERVICES_FILE_SCAN_READER_REFILL_THREAD_H_
#define SERVICES_FILE_SCAN_READER_REFILL_THREAD_H_

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "services/common/mutex.h"

namespace bimbackup::file_scan::reader {

// Runs one function at a time. Used by one other thread; neither Await() nor
// destruction has a deadline, as reading from a disk has none.
class RefillThread {
 public:
  // `work` is what each Post() asks for.
  explicit RefillThread(std::function<void()> work);
  ~RefillThread();

  // Asks for the work to be done; not before the last one was awaited.
  void Post();
  // Waits until it has been.
  void Await();

  // The thread's processor time so far.
  absl::Duration cpu();

 private:
  enum class State { kIdle, kPosted, kDone, kStopped };

  void Run();

  const std::function<void()> work_;
  Mutex mutex_;
  CondVar changed_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  std::thread thread_;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_REFILL_THREAD_H_
