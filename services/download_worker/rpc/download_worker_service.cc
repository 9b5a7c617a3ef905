#include "services/download_worker/rpc/download_worker_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/digest.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/rpc/request_bounds.h"
#include "services/common/status_macros.h"
#include "services/download_worker/rpc/download_call.h"

namespace bimbackup::worker_rpc {
namespace {

constexpr size_t kMaxUrlBytes = 16 << 10;

bool IsHex(const std::string& text, size_t size) {
  return text.size() == size &&
         text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

void AddRunning(const engine::TransferProgress& progress,
                v1::GetStatusResponse& response) {
  v1::RunningTransfer& running = *response.add_running();
  running.set_transfer_id(progress.transfer_id);
  running.set_display_path(progress.display_path);
  running.set_bytes_done(progress.bytes_done);
  if (progress.size >= 0) running.set_size(progress.size);
}

}  // namespace

DownloadWorkerServiceImpl::DownloadWorkerServiceImpl(ServiceDeps deps)
    : deps_(std::move(deps)), started_(deps_.clock.Monotonic()) {}

absl::Status DownloadWorkerServiceImpl::CheckDownload(
    const v1::DownloadRequest& request) const {
  // A signed URL is longer than other texts.
  ABSL_RETURN_IF_ERROR(
      rpc::CheckRequest(request, {.max_text_bytes = kMaxUrlBytes}));
  ABSL_RETURN_IF_ERROR(deps_.hosts.Check(request.url()));
  if (request.has_size() && request.size() < 0) {
    return absl::InvalidArgumentError("size: below zero");
  }
  if (!request.sha1().empty() && !IsHex(request.sha1(), 40)) {
    return absl::InvalidArgumentError("sha1: not 40 hexadecimal digits");
  }
  if (!request.sha256().empty() && !IsHex(request.sha256(), 64)) {
    return absl::InvalidArgumentError("sha256: not 64 hexadecimal digits");
  }
  const std::string problem = deps_.engine.storage_problem();
  if (!problem.empty()) return absl::ResourceExhaustedError(problem);
  if (!deps_.engine.HasFreeSlot() || deps_.loop.connection().draining) {
    return absl::ResourceExhaustedError("no slot is free");
  }
  return absl::OkStatus();
}

grpc::ServerWriteReactor<v1::DownloadResponse>*
DownloadWorkerServiceImpl::Download(grpc::CallbackServerContext*,
                                    const v1::DownloadRequest* request) {
  const absl::Status checked = CheckDownload(*request);
  if (!checked.ok()) return RefuseDownload(rpc::ToGrpcStatus(checked));
  return DownloadCall::Start(*request, deps_.engine);
}

grpc::ServerUnaryReactor* DownloadWorkerServiceImpl::GetStatus(
    grpc::CallbackServerContext* context, const v1::GetStatusRequest*,
    v1::GetStatusResponse* response) {
  const worker_lease::Connection connection = deps_.loop.connection();
  const engine::EngineTotals totals = deps_.engine.totals();
  response->set_worker_id(deps_.identity.worker_id);
  response->set_version(BIMBACKUP_VERSION);
  response->mutable_uptime()->set_seconds(
      absl::ToInt64Seconds(deps_.clock.Monotonic() - started_));
  response->set_coordinator(deps_.coordinator);
  response->set_connected(connection.connected);
  response->set_connection_error(connection.error);
  response->set_draining(connection.draining);
  response->set_storage_id(deps_.identity.storage_id);
  response->set_storage_problem(deps_.engine.storage_problem());
  for (const engine::TransferProgress& progress : deps_.engine.Progress()) {
    if (progress.running) AddRunning(progress, *response);
  }
  response->set_stored_count(totals.stored);
  response->set_failed_count(totals.failed);
  response->set_bytes_received(totals.bytes_received);
  response->set_max_transfers(deps_.engine.slots());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* DownloadWorkerServiceImpl::Drain(
    grpc::CallbackServerContext* context, const v1::DrainRequest*,
    v1::DrainResponse* response) {
  deps_.drain();
  response->set_running(deps_.engine.held());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace bimbackup::worker_rpc
