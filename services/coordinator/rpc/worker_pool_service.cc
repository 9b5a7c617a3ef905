#include "services/coordinator/rpc/worker_pool_service.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/mutex.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/rpc/request_bounds.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"

namespace bimbackup::coordinator_rpc {
namespace {

constexpr int kProtocolVersion = 1;
constexpr int kMaxResults = 256;
constexpr int kMaxHeld = 10'000;

// What a held call and its reactor know of each other. The reactor may be
// gone as soon as the pool has answered.
class HeldCall {
 public:
  explicit HeldCall(lease::LeasePool& pool) : pool_(pool) {}

  void SetNumber(int64_t number) {
    {
      MutexLock lock(mutex_);
      number_ = number;
      if (!cancelled_) return;
    }
    pool_.CancelCall(number);
  }

  void Cancel() {
    int64_t number = 0;
    {
      MutexLock lock(mutex_);
      cancelled_ = true;
      number = number_;
    }
    if (number > 0) pool_.CancelCall(number);
  }

 private:
  lease::LeasePool& pool_;
  Mutex mutex_;
  int64_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

class SynchronizeReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit SynchronizeReactor(std::shared_ptr<HeldCall> call)
      : call_(std::move(call)) {}

  void OnCancel() override { call_->Cancel(); }
  void OnDone() override { delete this; }

 private:
  const std::shared_ptr<HeldCall> call_;
};

// Ends the signing once nobody waits for it.
class ResolveReactor final : public grpc::ServerUnaryReactor {
 public:
  void OnCancel() override { gone_.request_stop(); }
  void OnDone() override { delete this; }

  std::stop_token caller() const { return gone_.get_token(); }

 private:
  std::stop_source gone_;
};

}  // namespace

WorkerPoolServiceImpl::WorkerPoolServiceImpl(lease::LeasePool& pool,
                                             std::string storage_id,
                                             Clock& clock)
    : pool_(pool),
      storage_id_(std::move(storage_id)),
      clock_(clock),
      signing_(/*max_threads=*/16, /*max_queued=*/1024) {}

absl::Status WorkerPoolServiceImpl::Check(
    const v1::SynchronizeRequest& request) const {
  ABSL_RETURN_IF_ERROR(rpc::CheckRequest(request, {.max_elements = kMaxHeld}));
  if (request.worker_id().empty()) {
    return absl::InvalidArgumentError("worker_id: is empty");
  }
  if (request.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the worker speaks protocol ", request.protocol_version(),
                     ", this coordinator ", kProtocolVersion,
                     ": run the same version of both"));
  }
  if (request.storage_id() != storage_id_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the worker's storage is ", request.storage_id(),
                     ", the coordinator's is ", storage_id_,
                     ": --storage must lead both to the same folder"));
  }
  if (request.results_size() > kMaxResults) {
    return absl::InvalidArgumentError(
        absl::StrCat("results: ", request.results_size(),
                     " entries, over the limit of ", kMaxResults));
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* WorkerPoolServiceImpl::Synchronize(
    grpc::CallbackServerContext* context, const v1::SynchronizeRequest* request,
    v1::SynchronizeResponse* response) {
  if (absl::Status status = Check(*request); !status.ok()) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(rpc::ToGrpcStatus(status));
    return reactor;
  }
  auto call = std::make_shared<HeldCall>(pool_);
  auto* reactor = new SynchronizeReactor(call);
  const int64_t number =
      pool_.Synchronize(FromProto(*request),
                        [this, reactor, response](
                            absl::StatusOr<lease::SynchronizeAnswer> answer) {
                          if (answer.ok())
                            *response = ToProto(*answer, clock_.Monotonic());
                          reactor->Finish(rpc::ToGrpcStatus(answer.status()));
                        });
  call->SetNumber(number);
  return reactor;
}

grpc::ServerUnaryReactor* WorkerPoolServiceImpl::ResolveDownload(
    grpc::CallbackServerContext*, const v1::ResolveDownloadRequest* request,
    v1::ResolveDownloadResponse* response) {
  auto* reactor = new ResolveReactor();
  const bool taken = signing_.Submit([this, reactor, request, response] {
    const absl::StatusOr<bim360::SignedDownload> download =
        pool_.ResolveDownload(request->worker_id(), request->transfer_id(),
                              request->epoch(), reactor->caller());
    if (download.ok()) {
      *response->mutable_source() = ToProto(*download, clock_.Monotonic());
    }
    reactor->Finish(rpc::ToGrpcStatus(download.status()));
  });
  if (!taken) {
    reactor->Finish(rpc::ToGrpcStatus(
        absl::UnavailableError("too many URLs are being signed; ask again")));
  }
  return reactor;
}

}  // namespace bimbackup::coordinator_rpc
