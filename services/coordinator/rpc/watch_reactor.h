// One caller of WatchBackup.

#ifndef SERVICES_COORDINATOR_RPC_WATCH_REACTOR_H_
#define SERVICES_COORDINATOR_RPC_WATCH_REACTOR_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "services/common/mutex.h"
#include "services/coordinator/backup/watch_hub.h"

namespace bimbackup::coordinator_rpc {

// The stream's state, which outlives its reactor while the hub still knows
// it. Keeps only the newest view while a write is under way. Thread-safe.
class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  explicit WatchStream(backup::WatchHub& hub) : hub_(hub) {}

  // Makes the stream's reactor, which deletes itself.
  grpc::ServerWriteReactor<v1::WatchBackupResponse>* MakeReactor();

  // Starts to show the backup.
  void Begin(catalog::BackupNumber backup);
  // Ends the stream; no effect where it has ended.
  void End(const absl::Status& status);

 private:
  class Reactor;

  void Show(const backup::BackupView& view);
  void OnWriteDone(bool ok);
  void OnDone();
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  backup::WatchHub& hub_;
  Mutex mutex_;
  // Null before it is made and after it is done.
  Reactor* reactor_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t watch_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  // The last view has come.
  bool last_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<v1::WatchBackupResponse> next_ ABSL_GUARDED_BY(mutex_);
  v1::WatchBackupResponse current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_WATCH_REACTOR_H_
