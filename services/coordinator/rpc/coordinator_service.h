// What people and their tools call: a thin shell over the domain.

#ifndef SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_
#define SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/storage/storage.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/lease/lease_pool.h"
#include "services/coordinator/rpc/snapshot_browser.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe.
class CoordinatorServiceImpl final
    : public v1::CoordinatorService::CallbackService {
 public:
  // All outlive the service and its server.
  CoordinatorServiceImpl(backup::BackupRunner& runner,
                         catalog::Catalog& catalog, lease::LeasePool& pool,
                         storage::Storage& storage);

  grpc::ServerUnaryReactor* StartBackup(
      grpc::CallbackServerContext* context,
      const v1::StartBackupRequest* request,
      v1::StartBackupResponse* response) override;
  grpc::ServerUnaryReactor* GetBackup(grpc::CallbackServerContext* context,
                                      const v1::GetBackupRequest* request,
                                      v1::GetBackupResponse* response) override;
  grpc::ServerUnaryReactor* ListBackups(
      grpc::CallbackServerContext* context,
      const v1::ListBackupsRequest* request,
      v1::ListBackupsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchBackupResponse>* WatchBackup(
      grpc::CallbackServerContext* context,
      const v1::WatchBackupRequest* request) override;
  grpc::ServerUnaryReactor* CancelBackup(
      grpc::CallbackServerContext* context,
      const v1::CancelBackupRequest* request,
      v1::CancelBackupResponse* response) override;
  grpc::ServerUnaryReactor* ListTransfers(
      grpc::CallbackServerContext* context,
      const v1::ListTransfersRequest* request,
      v1::ListTransfersResponse* response) override;
  grpc::ServerUnaryReactor* ListSnapshots(
      grpc::CallbackServerContext* context,
      const v1::ListSnapshotsRequest* request,
      v1::ListSnapshotsResponse* response) override;
  grpc::ServerUnaryReactor* ListFiles(grpc::CallbackServerContext* context,
                                      const v1::ListFilesRequest* request,
                                      v1::ListFilesResponse* response) override;
  grpc::ServerUnaryReactor* ListWorkers(
      grpc::CallbackServerContext* context,
      const v1::ListWorkersRequest* request,
      v1::ListWorkersResponse* response) override;
  grpc::ServerUnaryReactor* DrainWorker(
      grpc::CallbackServerContext* context,
      const v1::DrainWorkerRequest* request,
      v1::DrainWorkerResponse* response) override;

 private:
  absl::Status DoListBackups(const v1::ListBackupsRequest& request,
                             v1::ListBackupsResponse& response);
  absl::Status DoListTransfers(const v1::ListTransfersRequest& request,
                               v1::ListTransfersResponse& response);
  absl::Status DoListSnapshots(const v1::ListSnapshotsRequest& request,
                               v1::ListSnapshotsResponse& response);
  absl::Status DoListFiles(const grpc::CallbackServerContext& context,
                           const v1::ListFilesRequest& request,
                           v1::ListFilesResponse& response);
  absl::Status DoListWorkers(const v1::ListWorkersRequest& request,
                             v1::ListWorkersResponse& response);
  absl::StatusOr<backup::BackupView> Find(const std::string& name);

  backup::BackupRunner& runner_;
  catalog::Catalog& catalog_;
  lease::LeasePool& pool_;
  SnapshotBrowser browser_;
  // Last: its work uses the above.
  WorkQueue queue_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_
