#include "services/coordinator/rpc/watch_reactor.h"

#include <utility>

#include "services/common/rpc/grpc_status.h"
#include "services/coordinator/rpc/conversions.h"

namespace bimbackup::coordinator_rpc {

class WatchStream::Reactor final
    : public grpc::ServerWriteReactor<v1::WatchBackupResponse> {
 public:
  explicit Reactor(std::shared_ptr<WatchStream> stream)
      : stream_(std::move(stream)) {}

  void OnWriteDone(bool ok) override { stream_->OnWriteDone(ok); }
  void OnCancel() override {
    stream_->End(absl::CancelledError("the caller has gone"));
  }
  void OnDone() override {
    stream_->OnDone();
    delete this;
  }

 private:
  const std::shared_ptr<WatchStream> stream_;
};

grpc::ServerWriteReactor<v1::WatchBackupResponse>* WatchStream::MakeReactor() {
  MutexLock lock(mutex_);
  reactor_ = new Reactor(shared_from_this());
  return reactor_;
}

void WatchStream::Begin(catalog::BackupNumber backup) {
  const int64_t watch = hub_.Watch(
      backup, [stream = shared_from_this()](const backup::BackupView& view) {
        stream->Show(view);
      });
  {
    MutexLock lock(mutex_);
    watch_ = watch;
    if (reactor_ != nullptr && !finished_) return;
  }
  hub_.Unwatch(watch);
}

void WatchStream::End(const absl::Status& status) {
  MutexLock lock(mutex_);
  Finish(status);
}

void WatchStream::Show(const backup::BackupView& view) {
  v1::WatchBackupResponse response;
  *response.mutable_backup() = ToProto(view);
  MutexLock lock(mutex_);
  if (reactor_ == nullptr || finished_) return;
  next_ = std::move(response);
  last_ = last_ || catalog::HasEnded(view.record.state);
  if (!writing_) WriteNext();
}

void WatchStream::WriteNext() {
  current_ = *std::move(next_);
  next_.reset();
  writing_ = true;
  reactor_->StartWrite(&current_);
}

void WatchStream::OnWriteDone(bool ok) {
  MutexLock lock(mutex_);
  writing_ = false;
  if (finished_) return;
  if (!ok) {
    Finish(absl::CancelledError("the caller has gone"));
  } else if (next_.has_value()) {
    WriteNext();
  } else if (last_) {
    Finish(absl::OkStatus());
  }
}

void WatchStream::Finish(const absl::Status& status) {
  if (finished_ || reactor_ == nullptr) return;
  finished_ = true;
  reactor_->Finish(rpc::ToGrpcStatus(status));
}

void WatchStream::OnDone() {
  int64_t watch = 0;
  {
    MutexLock lock(mutex_);
    reactor_ = nullptr;
    watch = watch_;
  }
  if (watch > 0) hub_.Unwatch(watch);
}

}  // namespace bimbackup::coordinator_rpc
