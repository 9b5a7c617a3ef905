// The methods; the lists among them are in coordinator_lists.cc.

#include "services/coordinator/rpc/coordinator_service.h"

#include <memory>
#include <utility>

#include "services/common/rpc/grpc_status.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"
#include "services/coordinator/rpc/watch_reactor.h"

namespace bimbackup::coordinator_rpc {
namespace {

absl::Status Busy() {
  return absl::UnavailableError("too many calls are waiting; ask again");
}

// Runs `work`, which returns the call's status, off gRPC's threads.
template <typename Work>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                 WorkQueue& queue, Work work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool taken = queue.Submit([reactor, work = std::move(work)]() mutable {
    reactor->Finish(rpc::ToGrpcStatus(work()));
  });
  if (!taken) reactor->Finish(rpc::ToGrpcStatus(Busy()));
  return reactor;
}

}  // namespace

CoordinatorServiceImpl::CoordinatorServiceImpl(backup::BackupRunner& runner,
                                               catalog::Catalog& catalog,
                                               lease::LeasePool& pool,
                                               storage::Storage& storage)
    : runner_(runner),
      catalog_(catalog),
      pool_(pool),
      browser_(storage),
      queue_(/*max_threads=*/8, /*max_queued=*/256) {}

absl::StatusOr<backup::BackupView> CoordinatorServiceImpl::Find(
    const std::string& name) {
  ABSL_ASSIGN_OR_RETURN(const std::string id, ReadName("backups", name));
  return runner_.GetBackup(id);
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::StartBackup(
    grpc::CallbackServerContext* context, const v1::StartBackupRequest* request,
    v1::StartBackupResponse* response) {
  return Answer(context, queue_, [this, request, response]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const backup::BackupView view,
                          runner_.StartBackup(FromProto(*request)));
    *response->mutable_backup() = ToProto(view);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::GetBackup(
    grpc::CallbackServerContext* context, const v1::GetBackupRequest* request,
    v1::GetBackupResponse* response) {
  return Answer(context, queue_, [this, request, response]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const backup::BackupView view, Find(request->name()));
    *response->mutable_backup() = ToProto(view);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListBackups(
    grpc::CallbackServerContext* context, const v1::ListBackupsRequest* request,
    v1::ListBackupsResponse* response) {
  return Answer(context, queue_, [this, request, response] {
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
  if (!taken) stream->End(Busy());
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::CancelBackup(
    grpc::CallbackServerContext* context,
    const v1::CancelBackupRequest* request,
    v1::CancelBackupResponse* response) {
  return Answer(context, queue_, [this, request, response]() -> absl::Status {
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
  return Answer(context, queue_, [this, request, response] {
    return DoListTransfers(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListSnapshots(
    grpc::CallbackServerContext* context,
    const v1::ListSnapshotsRequest* request,
    v1::ListSnapshotsResponse* response) {
  return Answer(context, queue_, [this, request, response] {
    return DoListSnapshots(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListFiles(
    grpc::CallbackServerContext* context, const v1::ListFilesRequest* request,
    v1::ListFilesResponse* response) {
  return Answer(context, queue_, [this, context, request, response] {
    return DoListFiles(*context, *request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::ListWorkers(
    grpc::CallbackServerContext* context, const v1::ListWorkersRequest* request,
    v1::ListWorkersResponse* response) {
  return Answer(context, queue_, [this, request, response] {
    return DoListWorkers(*request, *response);
  });
}

grpc::ServerUnaryReactor* CoordinatorServiceImpl::DrainWorker(
    grpc::CallbackServerContext* context, const v1::DrainWorkerRequest* request,
    v1::DrainWorkerResponse* response) {
  return Answer(context, queue_, [this, request, response]() -> absl::Status {
    ABSL_ASSIGN_OR_RETURN(const lease::WorkerInfo worker,
                          pool_.DrainWorker(request->worker_id()));
    *response->mutable_worker() = ToProto(worker);
    return absl::OkStatus();
  });
}

}  // namespace bimbackup::coordinator_rpc
