// The methods; the lists among them are in coordinator_lists.cc.

#include "services/coordinator/rpc/coordinator_service.h"

#include <memory>
#include <utility>

#include "services/common/status_macros.h"
#include "services/coordinator/rpc/accept_call.h"
#include "services/coordinator/rpc/calls.h"
#include "services/coordinator/rpc/conversions.h"
#include "services/coordinator/rpc/watch_reactor.h"

namespace bimbackup::coordinator_rpc {
CoordinatorServiceImpl::CoordinatorServiceImpl(const ServiceDeps& deps)
    : runner_(deps.runner),
      catalog_(deps.catalog),
      pool_(deps.pool),
      browser_(deps.storage, deps.clock),
      restore_(deps.storage),
      limits_(deps.limiter, deps.pool),
      verify_(deps.storage, deps.damage, deps.clock, deps.random),
      diff_(deps.storage, deps.clock, deps.scratch_folder),
      forget_(deps.forgetter, deps.clock),
      rebuild_latest_(deps.runner, deps.snapshot, deps.clock),
      queue_(/*max_threads=*/8, /*max_queued=*/256),
      streams_(/*max_threads=*/16, /*max_queued=*/16) {}

absl::StatusOr<backup::BackupView> CoordinatorServiceImpl::Find(
    const std::string& name) {
  ABSL_ASSIGN_OR_RETURN(const std::string id, ReadName("backups", name));
  return runner_.GetBackup(id);
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::StartBackup(
    grpc::CallbackServerContext* context, const v1::StartBackupRequest* request,
    v1::StartBackupResponse* response) {
  return Answer(
      context, queue_, *request, [this, request, response]() -> absl::Status {
        ABSL_ASSIGN_OR_RETURN(const backup::BackupView view,
                              runner_.StartBackup(FromProto(*request)));
        *response->mutable_backup() = ToProto(view);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::GetBackup(
    grpc::CallbackServerContext* context, const v1::GetBackupRequest* request,
    v1::GetBackupResponse* response) {
  return Answer(context, queue_, *request,
                [this, request, response]() -> absl::Status {
                  ABSL_ASSIGN_OR_RETURN(const backup::BackupView view,
                                        Find(request->name()));
                  *response->mutable_backup() = ToProto(view);
                  return absl::OkStatus();
                });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListBackups(
    grpc::CallbackServerContext* context, const v1::ListBackupsRequest* request,
    v1::ListBackupsResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return DoListBackups(*request, *response);
  });
}

grpc::ServerWriteReactor<v1::WatchBackupResponse>*
CoordinatorServiceImpl::WatchBackup(grpc::CallbackServerContext* context,
                                    const v1::WatchBackupRequest* request) {
  static_cast<void>(context);
  auto stream = std::make_shared<WatchStream>(runner_.watches());
  auto* reactor = stream->MakeReactor();
  // By value: the request is gone once the stream has ended.
  const bool taken = queue_.Submit([this, stream, name = request->name()] {
    const absl::StatusOr<backup::BackupView> view = Find(name);
    if (view.ok()) {
      stream->Begin(view->record.number);
    } else {
      stream->End(view.status());
    }
  });
  if (!taken) stream->End(TooManyCalls());
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::CancelBackup(
    grpc::CallbackServerContext* context,
    const v1::CancelBackupRequest* request,
    v1::CancelBackupResponse* response) {
  return Answer(context, queue_, *request,
                [this, request, response]() -> absl::Status {
                  ABSL_ASSIGN_OR_RETURN(const std::string id,
                                        ReadName("backups", request->name()));
                  ABSL_ASSIGN_OR_RETURN(const backup::BackupView view,
                                        runner_.CancelBackup(id));
                  *response->mutable_backup() = ToProto(view);
                  return absl::OkStatus();
                });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListTransfers(
    grpc::CallbackServerContext* context,
    const v1::ListTransfersRequest* request,
    v1::ListTransfersResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return DoListTransfers(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListSnapshots(
    grpc::CallbackServerContext* context,
    const v1::ListSnapshotsRequest* request,
    v1::ListSnapshotsResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return DoListSnapshots(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListFiles(
    grpc::CallbackServerContext* context, const v1::ListFilesRequest* request,
    v1::ListFilesResponse* response) {
  return Answer(context, queue_, *request, [this, context, request, response] {
    return DoListFiles(*context, *request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListWorkers(
    grpc::CallbackServerContext* context, const v1::ListWorkersRequest* request,
    v1::ListWorkersResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return DoListWorkers(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::DrainWorker(
    grpc::CallbackServerContext* context, const v1::DrainWorkerRequest* request,
    v1::DrainWorkerResponse* response) {
  return Answer(
      context, queue_, *request, [this, request, response]() -> absl::Status {
        ABSL_ASSIGN_OR_RETURN(const lease::WorkerInfo worker,
                              pool_.DrainWorker(request->worker_id()));
        *response->mutable_worker() = ToProto(worker);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::GetLimits(
    grpc::CallbackServerContext* context, const v1::GetLimitsRequest*,
    v1::GetLimitsResponse* response) {
  return Answer(context, queue_, [this, response] {
    *response->mutable_limits() = limits_.Get();
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::UpdateLimits(
    grpc::CallbackServerContext* context,
    const v1::UpdateLimitsRequest* request,
    v1::UpdateLimitsResponse* response) {
  return Answer(context, queue_, *request,
                [this, request, response]() -> absl::Status {
                  ABSL_ASSIGN_OR_RETURN(*response->mutable_limits(),
                                        limits_.Update(*request));
                  return absl::OkStatus();
                });
}

grpc::ServerWriteReactor<v1::VerifySnapshotResponse>*
CoordinatorServiceImpl::VerifySnapshot(
    grpc::CallbackServerContext* /*context*/,
    const v1::VerifySnapshotRequest* request) {
  return verify_.VerifySnapshot(*request);
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::DiffSnapshots(
    grpc::CallbackServerContext* context,
    const v1::DiffSnapshotsRequest* request,
    v1::DiffSnapshotsResponse* response) {
  return Answer(context, queue_, *request, [this, context, request, response] {
    return diff_.DiffSnapshots(
        *request, [context] { return context->IsCancelled(); }, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ProtectSnapshot(
    grpc::CallbackServerContext* context,
    const v1::ProtectSnapshotRequest* request,
    v1::ProtectSnapshotResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return forget_.ProtectSnapshot(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::AcceptChanges(
    grpc::CallbackServerContext* context,
    const v1::AcceptChangesRequest* request,
    v1::AcceptChangesResponse* response) {
  return Answer(context, queue_, *request, [this, request, response] {
    return coordinator_rpc::AcceptChanges(runner_, catalog_, *request,
                                          *response);
  });
}

}  // namespace bimbackup::coordinator_rpc
