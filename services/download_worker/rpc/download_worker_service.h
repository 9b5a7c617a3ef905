// DownloadWorkerService over gRPC: converts, calls, converts back.

#ifndef SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_WORKER_SERVICE_H_
#define SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_WORKER_SERVICE_H_

#include <functional>
#include <string>

#include "bimbackup/v1/download_worker_service.grpc.pb.h"
#include "clients/http/host_policy.h"
#include "services/common/clock.h"
#include "services/download_worker/engine/download_engine.h"
#include "services/download_worker/lease/lease_loop.h"
#include "services/download_worker/rpc/coordinator_client.h"

namespace bimbackup::worker_rpc {

// What the service stands on. Everything outlives it.
struct ServiceDeps {
  Clock& clock;
  engine::DownloadEngine& engine;
  worker_lease::LeaseLoop& loop;
  const http::HostPolicy& hosts;
  WorkerIdentity identity;
  std::string coordinator;
  // Begins the drain at whose end the process ends.
  std::function<void()> drain;
};

// Thread-safe.
class DownloadWorkerServiceImpl
    : public v1::DownloadWorkerService::CallbackService {
 public:
  explicit DownloadWorkerServiceImpl(ServiceDeps deps);

  grpc::ServerWriteReactor<v1::DownloadResponse>* Download(
      grpc::CallbackServerContext* context,
      const v1::DownloadRequest* request) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const v1::DrainRequest* request,
                                  v1::DrainResponse* response) override;

 private:
  absl::Status CheckDownload(const v1::DownloadRequest& request) const;

  const ServiceDeps deps_;
  const absl::Duration started_;
};

}  // namespace bimbackup::worker_rpc

#endif  // SERVICES_DOWNLOAD_WORKER_RPC_DOWNLOAD_WORKER_SERVICE_H_
