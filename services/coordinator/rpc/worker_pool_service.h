// What workers call, over the lease pool.

#ifndef SERVICES_COORDINATOR_RPC_WORKER_POOL_SERVICE_H_
#define SERVICES_COORDINATOR_RPC_WORKER_POOL_SERVICE_H_

#include <string>

#include "bimbackup/v1/worker_pool_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/coordinator/lease/lease_pool.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

// A held Synchronize keeps no thread. Thread-safe.
class WorkerPoolServiceImpl final
    : public v1::WorkerPoolService::CallbackService {
 public:
  // `pool` and `clock` outlive the service and its server.
  WorkerPoolServiceImpl(lease::LeasePool& pool, std::string storage_id,
                        Clock& clock);

  grpc::ServerUnaryReactor* Synchronize(
      grpc::CallbackServerContext* context,
      const v1::SynchronizeRequest* request,
      v1::SynchronizeResponse* response) override;

  grpc::ServerUnaryReactor* ResolveDownload(
      grpc::CallbackServerContext* context,
      const v1::ResolveDownloadRequest* request,
      v1::ResolveDownloadResponse* response) override;

 private:
  absl::Status Check(const v1::SynchronizeRequest& request) const;

  lease::LeasePool& pool_;
  const std::string storage_id_;
  Clock& clock_;
  // Signing waits for Autodesk.
  WorkQueue signing_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_WORKER_POOL_SERVICE_H_
