// Ends calls whose other side has stopped to say anything.

#ifndef CLIENTS_RESTORE_RPC_STALL_WATCH_H_
#define CLIENTS_RESTORE_RPC_STALL_WATCH_H_

#include <list>
#include <thread>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::restore {

// A stream of hours has no deadline as a whole, but each wait for its next
// message has one. Thread-safe; outlives its waits.
class StallWatch {
 private:
  struct Waiting {
    grpc::ClientContext* context = nullptr;
    absl::Duration deadline;
    bool cancelled = false;
  };

 public:
  // `clock` outlives the watch.
  StallWatch(Clock& clock, absl::Duration patience);
  ~StallWatch();

  // Cancels the call where this lives longer than the watch's patience.
  class Wait {
   public:
    Wait(StallWatch& watch, grpc::ClientContext& context);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    // The call was cancelled by this.
    bool expired() const;

   private:
    StallWatch& watch_;
    std::list<Waiting>::iterator place_;
  };

  absl::Duration patience() const { return patience_; }

 private:
  void Run();
  void CancelExpired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  const absl::Duration patience_;
  mutable Mutex mutex_;
  CondVar changed_;
  // In order of their deadlines.
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RPC_STALL_WATCH_H_
