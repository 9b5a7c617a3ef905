// A stream of answers that are made one by one, as their caller takes them.

#ifndef SERVICES_COORDINATOR_RPC_PULL_STREAM_H_
#define SERVICES_COORDINATOR_RPC_PULL_STREAM_H_

#include <atomic>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/grpcpp.h"
#include "services/common/rpc/grpc_status.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

// Needs a thread of the queue only while an answer is made, so that callers
// who take hours, or nothing at all, hold none. Deletes itself once it has
// ended.
template <typename Response>
class PullStream final : public grpc::ServerWriteReactor<Response> {
 public:
  // Fills in the next answer; false where there is none. Called by one thread
  // at a time.
  using Producer = std::function<absl::StatusOr<bool>(Response&)>;

  // The queue outlives the stream's server.
  PullStream(WorkQueue& queue, Producer producer)
      : queue_(queue), producer_(std::move(producer)) {
    Submit();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the caller has gone"));
    Submit();
  }
  // What runs just now sees it behind its answer.
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  // After each of these gRPC may have deleted the stream.
  void Submit() {
    if (queue_.Submit([this] { Produce(); })) return;
    End(absl::UnavailableError("too many calls are waiting; ask again"));
  }
  void Produce() {
    if (cancelled_) return End(absl::CancelledError("the caller has gone"));
    response_.Clear();
    const absl::StatusOr<bool> more = producer_(response_);
    if (!more.ok() || !*more) return End(more.status());
    this->StartWrite(&response_);
  }
  void End(const absl::Status& status) {
    this->Finish(rpc::ToGrpcStatus(status));
  }

  WorkQueue& queue_;
  const Producer producer_;
  std::atomic<bool> cancelled_ = false;
  Response response_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_PULL_STREAM_H_
