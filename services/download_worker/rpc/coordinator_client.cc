#include "services/download_worker/rpc/coordinator_client.h"

#include <utility>

#include "grpcpp/grpcpp.h"
#include "services/common/rpc/grpc_status.h"
#include "services/download_worker/rpc/conversion.h"

namespace bimbackup::worker_rpc {
namespace {

constexpr int kProtocolVersion = 1;
// A batch of signed URLs of a chunked file of a terabyte.
constexpr int kMaxMessageBytes = 64 << 20;
// The coordinator may have to wait for its own limiter.
constexpr absl::Duration kResolveTimeout = absl::Seconds(90);

std::shared_ptr<grpc::Channel> DialCoordinator(const rpc::Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return rpc::Dial(target, std::move(arguments));
}

void SetDeadline(grpc::ClientContext& context, absl::Duration timeout) {
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(timeout));
}

}  // namespace

struct CoordinatorClient::SyncCall {
  grpc::ClientContext context;
  v1::SynchronizeRequest request;
  v1::SynchronizeResponse response;
};

struct CoordinatorClient::ResolveCall {
  grpc::ClientContext context;
  v1::ResolveDownloadRequest request;
  v1::ResolveDownloadResponse response;
};

CoordinatorClient::CoordinatorClient(const rpc::Target& target,
                                     WorkerIdentity identity, Clock& clock)
    : identity_(std::move(identity)),
      clock_(clock),
      stub_(v1::WorkerPoolService::NewStub(DialCoordinator(target))) {}

CoordinatorClient::~CoordinatorClient() {
  Cancel();
  MutexLock lock(mutex_);
  // Bounded: every call has a deadline.
  while (running_ > 0) idle_.Wait(mutex_);
}

void CoordinatorClient::Begin() {
  MutexLock lock(mutex_);
  ++running_;
}

void CoordinatorClient::Finish() {
  MutexLock lock(mutex_);
  if (--running_ == 0) idle_.NotifyAll();
}

void CoordinatorClient::Synchronize(
    const worker_lease::SyncRequest& request, absl::Duration timeout,
    std::function<void(absl::StatusOr<worker_lease::SyncResponse>)> done) {
  auto call = std::make_shared<SyncCall>();
  SetDeadline(call->context, timeout);
  call->request.set_worker_id(identity_.worker_id);
  call->request.set_display_name(identity_.display_name);
  call->request.set_protocol_version(kProtocolVersion);
  call->request.set_version(BIMBACKUP_VERSION);
  call->request.set_storage_id(identity_.storage_id);
  AddToProto(request, call->request);
  Begin();
  {
    MutexLock lock(mutex_);
    sync_ = call;
  }
  stub_->async()->Synchronize(
      &call->context, &call->request, &call->response,
      [this, call, done = std::move(done)](const grpc::Status& status) {
        {
          MutexLock lock(mutex_);
          if (sync_ == call) sync_ = nullptr;
        }
        if (status.ok()) {
          done(FromProto(call->response, clock_.Monotonic()));
        } else {
          done(rpc::FromGrpcStatus(status));
        }
        Finish();
      });
}

void CoordinatorClient::Cancel() {
  std::shared_ptr<SyncCall> call;
  {
    MutexLock lock(mutex_);
    call = sync_;
  }
  if (call != nullptr) call->context.TryCancel();
}

void CoordinatorClient::Resolve(
    const engine::TransferTask& task,
    std::function<void(absl::StatusOr<engine::Source>)> done) {
  auto call = std::make_shared<ResolveCall>();
  SetDeadline(call->context, kResolveTimeout);
  call->request.set_worker_id(identity_.worker_id);
  call->request.set_transfer_id(task.transfer_id);
  call->request.set_epoch(task.epoch);
  Begin();
  stub_->async()->ResolveDownload(
      &call->context, &call->request, &call->response,
      [this, call, done = std::move(done)](const grpc::Status& status) {
        if (status.ok()) {
          done(FromProto(call->response.source(), clock_.Monotonic()));
        } else {
          done(rpc::FromGrpcStatus(status));
        }
        Finish();
      });
}

}  // namespace bimbackup::worker_rpc
