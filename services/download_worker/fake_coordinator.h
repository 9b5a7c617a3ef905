// A coordinator that grants what a test gives it, for the worker's tests.

#ifndef SERVICES_DOWNLOAD_WORKER_FAKE_COORDINATOR_H_
#define SERVICES_DOWNLOAD_WORKER_FAKE_COORDINATOR_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bimbackup/v1/worker_pool_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/rpc/grpc_server.h"

namespace bimbackup::download_worker {

// Listens on loopback. Takes back what a worker was granted and does not name
// as held, as the coordinator does. Thread-safe.
class FakeCoordinator : public v1::WorkerPoolService::Service {
 public:
  // On a free port, or on `address` to come back where one has gone.
  explicit FakeCoordinator(const std::string& address = "127.0.0.1:0");
  ~FakeCoordinator() override;

  const std::string& address() const { return server_->address(); }

  // Grants this transfer to whoever asks.
  void Add(v1::Transfer transfer);
  // What ResolveDownload answers for a transfer.
  void SetFresh(int64_t transfer_id, v1::DownloadSource source);
  // Takes the lease of a transfer away with the next answer.
  void Revoke(int64_t transfer_id);
  // Tells every worker to drain.
  void DrainWorkers();
  // Refuses every worker with this message.
  void Refuse(std::string message);

  // Waits for a result of the transfer, for at most half a minute; one
  // without an outcome when none comes.
  v1::TransferResult WaitForResult(int64_t transfer_id);
  // Results so far, in their order, repeated ones included.
  std::vector<v1::TransferResult> Results();
  // The newest call.
  v1::SynchronizeRequest LastRequest();
  int calls();
  int resolves();

  grpc::Status Synchronize(grpc::ServerContext* context,
                           const v1::SynchronizeRequest* request,
                           v1::SynchronizeResponse* response) override;
  grpc::Status ResolveDownload(grpc::ServerContext* context,
                               const v1::ResolveDownloadRequest* request,
                               v1::ResolveDownloadResponse* response) override;

 private:
  void Take(const v1::SynchronizeRequest& request,
            v1::SynchronizeResponse& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Grant(const v1::SynchronizeRequest& request,
             v1::SynchronizeResponse& response)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  SystemClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<v1::Transfer> waiting_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, v1::GrantedLease> leased_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, v1::DownloadSource> fresh_ ABSL_GUARDED_BY(mutex_);
  std::vector<int64_t> revoked_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::TransferResult> results_ ABSL_GUARDED_BY(mutex_);
  v1::SynchronizeRequest last_request_ ABSL_GUARDED_BY(mutex_);
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
  bool drain_ ABSL_GUARDED_BY(mutex_) = false;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int resolves_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t last_epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<rpc::GrpcServer> server_;
};

}  // namespace bimbackup::download_worker

#endif  // SERVICES_DOWNLOAD_WORKER_FAKE_COORDINATOR_H_
