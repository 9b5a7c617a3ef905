// What people and their tools call: a thin shell over the domain.

#ifndef SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_
#define SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/snapshots/snapshot_browser.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/lease/lease_pool.h"
#include "services/coordinator/retention/forgetter.h"
#include "services/coordinator/rpc/diff_call.h"
#include "services/coordinator/rpc/forget_call.h"
#include "services/coordinator/rpc/limits_calls.h"
#include "services/coordinator/rpc/rebuild_latest_call.h"
#include "services/coordinator/rpc/restore_calls.h"
#include "services/coordinator/rpc/verify_call.h"
#include "services/coordinator/rpc/work_queue.h"
#include "services/coordinator/snapshot/damage_keeper.h"

namespace bimbackup::coordinator_rpc {

// What the service stands on. All outlive the service and its server.
struct ServiceDeps {
  backup::BackupRunner& runner;
  catalog::Catalog& catalog;
  lease::LeasePool& pool;
  storage::Storage& storage;
  bim360::ApiLimiter& limiter;
  Clock& clock;
  Random& random;
  snapshot::DamageKeeper& damage;
  retention::Forgetter& forgetter;
  snapshot::StorageSnapshotStep& snapshot;
  // For what does not fit into memory.
  std::string scratch_folder;
};

// Thread-safe.
class CoordinatorServiceImpl final
    : public v1::CoordinatorService::CallbackService {
 public:
  explicit CoordinatorServiceImpl(const ServiceDeps& deps);

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
  grpc::ServerUnaryReactor* GetLimits(grpc::CallbackServerContext* context,
                                      const v1::GetLimitsRequest* request,
                                      v1::GetLimitsResponse* response) override;
  grpc::ServerUnaryReactor* UpdateLimits(
      grpc::CallbackServerContext* context,
      const v1::UpdateLimitsRequest* request,
      v1::UpdateLimitsResponse* response) override;
  grpc::ServerWriteReactor<v1::VerifySnapshotResponse>* VerifySnapshot(
      grpc::CallbackServerContext* context,
      const v1::VerifySnapshotRequest* request) override;
  grpc::ServerWriteReactor<v1::RestoreSnapshotResponse>* RestoreSnapshot(
      grpc::CallbackServerContext* context,
      const v1::RestoreSnapshotRequest* request) override {
    static_cast<void>(context);
    return restore_.RestoreSnapshot(*request);
  }
  grpc::ServerWriteReactor<v1::ReadBlobResponse>* ReadBlob(
      grpc::CallbackServerContext* context,
      const v1::ReadBlobRequest* request) override {
    static_cast<void>(context);
    return restore_.ReadBlob(*request);
  }
  grpc::ServerUnaryReactor* DiffSnapshots(
      grpc::CallbackServerContext* context,
      const v1::DiffSnapshotsRequest* request,
      v1::DiffSnapshotsResponse* response) override;
  grpc::ServerWriteReactor<v1::ForgetSnapshotsResponse>* ForgetSnapshots(
      grpc::CallbackServerContext* context,
      const v1::ForgetSnapshotsRequest* request) override {
    static_cast<void>(context);
    return forget_.ForgetSnapshots(*request);
  }
  grpc::ServerUnaryReactor* ProtectSnapshot(
      grpc::CallbackServerContext* context,
      const v1::ProtectSnapshotRequest* request,
      v1::ProtectSnapshotResponse* response) override;
  grpc::ServerUnaryReactor* AcceptChanges(
      grpc::CallbackServerContext* context,
      const v1::AcceptChangesRequest* request,
      v1::AcceptChangesResponse* response) override;
  grpc::ServerWriteReactor<v1::RebuildLatestViewResponse>* RebuildLatestView(
      grpc::CallbackServerContext* context,
      const v1::RebuildLatestViewRequest* request) override {
    static_cast<void>(context);
    static_cast<void>(request);
    return rebuild_latest_.RebuildLatestView();
  }

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
  snapshots::SnapshotBrowser browser_;
  RestoreCalls restore_;
  LimitsCalls limits_;
  VerifyCall verify_;
  DiffCall diff_;
  ForgetCall forget_;
  RebuildLatestCall rebuild_latest_;
  // Last: their work uses the above. Streams take long, and have threads of
  // their own.
  WorkQueue queue_;
  WorkQueue streams_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_COORDINATOR_SERVICE_H_
