// One call of Download: a one-off transfer and the stream of its progress.

#ifndef SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_CALL_H_
#define SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_CALL_H_

#include <atomic>
#include <memory>
#include <optional>

#include "bimbackup/v1/download_worker_service.grpc.pb.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/download_engine.h"

namespace bimbackup::worker_rpc {

// Owned by itself: lives until gRPC is done with the call and the engine with
// the transfer. Thread-safe.
class DownloadCall : public grpc::ServerWriteReactor<v1::DownloadResponse>,
                     public std::enable_shared_from_this<DownloadCall> {
 public:
  // Starts the transfer; the engine outlives the call.
  static DownloadCall* Start(const v1::DownloadRequest& request,
                             engine::DownloadEngine& engine);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  explicit DownloadCall(engine::DownloadEngine& engine) : engine_(engine) {}

  void Begin(const v1::DownloadRequest& request);
  void SetTimer();
  void OnTimer();
  void OnEnded(const engine::TransferReport& report);
  // Writes the last message or ends the call, once nothing else is written.
  void Conclude();

  engine::DownloadEngine& engine_;
  std::shared_ptr<DownloadCall> self_;
  grpc::Alarm timer_;

  Mutex mutex_;
  uint64_t handle_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<engine::TransferReport> report_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool concluded_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Belongs to the write under way.
  v1::DownloadResponse response_;
};

// A call that ends at once with `status`.
grpc::ServerWriteReactor<v1::DownloadResponse>* RefuseDownload(
    const grpc::Status& status);

}  // namespace bimbackup::worker_rpc

#endif  // SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_CALL_H_
