// The coordinator over gRPC.

#ifndef SERVICES_DOWNLOAD_WORKER_RPC_COORDINATOR_CLIENT_H_
#define SERVICES_DOWNLOAD_WORKER_RPC_COORDINATOR_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "bimbackup/v1/worker_pool_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/rpc/channel.h"
#include "services/download_worker/engine/transfer_task.h"
#include "services/download_worker/lease/worker_pool.h"

namespace bimbackup::worker_rpc {

// Who a worker is, towards the coordinator.
struct WorkerIdentity {
  // Unique; chosen at the worker's start.
  std::string worker_id;
  // For people.
  std::string display_name;
  std::string storage_id;
};

// The worker pool and the signing of one coordinator. Destruction cancels
// what runs and returns after the last callback. Thread-safe.
class CoordinatorClient final : public worker_lease::WorkerPool,
                                public engine::SourceResolver {
 public:
  // Dials `target` when first used, and again whenever it has to. `clock`
  // outlives the client.
  CoordinatorClient(const rpc::Target& target, WorkerIdentity identity,
                    Clock& clock);
  ~CoordinatorClient() override;

  void Synchronize(
      const worker_lease::SyncRequest& request, absl::Duration timeout,
      std::function<void(absl::StatusOr<worker_lease::SyncResponse>)> done)
      override;
  void Cancel() override;

  void Resolve(
      const engine::TransferTask& task,
      std::function<void(absl::StatusOr<engine::Source>)> done) override;

  const WorkerIdentity& identity() const { return identity_; }

 private:
  struct SyncCall;
  struct ResolveCall;

  void Begin();
  void Finish();

  const WorkerIdentity identity_;
  Clock& clock_;
  const std::unique_ptr<v1::WorkerPoolService::Stub> stub_;

  Mutex mutex_;
  CondVar idle_;
  std::shared_ptr<SyncCall> sync_ ABSL_GUARDED_BY(mutex_);
  // Calls whose callback has not returned.
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bimbackup::worker_rpc

#endif  // SERVICES_DOWNLOAD_WORKER_RPC_COORDINATOR_CLIENT_H_
