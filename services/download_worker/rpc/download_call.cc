#include "services/download_worker/rpc/download_call.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/common/digest.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/secret.h"

namespace bimbackup::worker_rpc {
namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(500);

engine::TransferTask TaskFor(const v1::DownloadRequest& request) {
  engine::TransferTask task;
  // Stable over calls, so that a second one goes on where a first one broke.
  task.storage_urn = absl::StrCat("download:", Sha256Hex(request.url()));
  task.display_path = WithoutQuery(request.url());
  task.source.ranges.push_back({.url = request.url()});
  if (request.has_size()) task.source.size = request.size();
  task.source.sha1 = absl::AsciiStrToLower(request.sha1());
  task.sha256 = absl::AsciiStrToLower(request.sha256());
  return task;
}

absl::Status StatusOf(const engine::TransferReport& report) {
  switch (report.outcome) {
    case engine::Outcome::kStored:
      return absl::OkStatus();
    case engine::Outcome::kRefused:
      return absl::PermissionDeniedError(report.message);
    case engine::Outcome::kNotFound:
      return absl::NotFoundError(report.message);
    case engine::Outcome::kCorrupt:
      return absl::DataLossError(report.message);
    case engine::Outcome::kInvalid:
      return absl::InvalidArgumentError(report.message);
    case engine::Outcome::kStorageFailed:
    case engine::Outcome::kStorageClosed:
      return absl::ResourceExhaustedError(report.message);
    case engine::Outcome::kReleased:
      return absl::CancelledError(report.message);
    case engine::Outcome::kRetryable:
      break;
  }
  return absl::UnavailableError(report.message);
}

class Refusal : public grpc::ServerWriteReactor<v1::DownloadResponse> {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerWriteReactor<v1::DownloadResponse>* RefuseDownload(
    const grpc::Status& status) {
  return new Refusal(status);
}

DownloadCall* DownloadCall::Start(const v1::DownloadRequest& request,
                                  engine::DownloadEngine& engine) {
  const std::shared_ptr<DownloadCall> call(new DownloadCall(engine));
  call->self_ = call;
  call->Begin(request);
  return call.get();
}

void DownloadCall::Begin(const v1::DownloadRequest& request) {
  const uint64_t handle = engine_.Submit(
      TaskFor(request), [self = shared_from_this()](
                            uint64_t, const engine::TransferReport& report) {
        self->OnEnded(report);
      });
  bool cancelled = false;
  {
    MutexLock lock(mutex_);
    handle_ = handle;
    cancelled = cancelled_;
  }
  if (cancelled) engine_.Release(handle, "the caller has gone");
  SetTimer();
}

void DownloadCall::SetTimer() {
  timer_.Set(std::chrono::system_clock::now() + kProgressInterval,
             // Weak, because the timer belongs to the call.
             [call = weak_from_this()](bool fired) {
               const auto self = call.lock();
               if (fired && self != nullptr) self->OnTimer();
             });
}

void DownloadCall::OnTimer() {
  uint64_t handle = 0;
  {
    MutexLock lock(mutex_);
    if (report_.has_value()) return;
    handle = handle_;
  }
  for (const engine::TransferProgress& progress : engine_.Progress()) {
    if (progress.handle != handle) continue;
    MutexLock lock(mutex_);
    if (report_.has_value()) return;
    if (writing_ || cancelled_) break;
    writing_ = true;
    response_.set_bytes_done(progress.bytes_done);
    if (progress.size >= 0) response_.set_size(progress.size);
    StartWrite(&response_);
    break;
  }
  SetTimer();
}

void DownloadCall::OnEnded(const engine::TransferReport& report) {
  {
    MutexLock lock(mutex_);
    report_ = report;
  }
  Conclude();
}

void DownloadCall::Conclude() {
  absl::Status status;
  {
    MutexLock lock(mutex_);
    if (!report_.has_value() || writing_ || concluded_) return;
    concluded_ = true;
    status = StatusOf(*report_);
    response_.set_bytes_done(report_->size);
    response_.set_size(report_->size);
    response_.set_sha256(report_->sha256);
  }
  if (status.ok()) {
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    Finish(rpc::ToGrpcStatus(status));
  }
}

void DownloadCall::OnWriteDone(bool) {
  {
    MutexLock lock(mutex_);
    writing_ = false;
  }
  Conclude();
}

void DownloadCall::OnCancel() {
  uint64_t handle = 0;
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    handle = handle_;
  }
  if (handle != 0) engine_.Release(handle, "the caller has gone");
}

void DownloadCall::OnDone() { const auto last = std::move(self_); }

}  // namespace bimbackup::worker_rpc
