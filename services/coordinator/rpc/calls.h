// How a method's work is done off gRPC's threads: one answer, or a stream of
// them.

#ifndef SERVICES_COORDINATOR_RPC_CALLS_H_
#define SERVICES_COORDINATOR_RPC_CALLS_H_

#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "services/common/mutex.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/rpc/request_bounds.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

inline absl::Status TooManyCalls() {
  return absl::UnavailableError("too many calls are waiting; ask again");
}

// Runs `work`, which returns the call's status, on the queue. Request and
// response live until it has returned.
template <typename Work>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                 WorkQueue& queue, Work work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool taken = queue.Submit([reactor, work = std::move(work)]() mutable {
    reactor->Finish(rpc::ToGrpcStatus(work()));
  });
  if (!taken) reactor->Finish(rpc::ToGrpcStatus(TooManyCalls()));
  return reactor;
}

// The same, for a request that is within its bounds; INVALID_ARGUMENT, at
// once, for one that is not.
template <typename Work>
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                 WorkQueue& queue,
                                 const google::protobuf::Message& request,
                                 Work work) {
  const absl::Status checked = rpc::CheckRequest(request);
  if (checked.ok()) return Answer(context, queue, std::move(work));
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(rpc::ToGrpcStatus(checked));
  return reactor;
}

// A stream of answers that one thread of ours writes, one after the other:
// waiting for each write is the back-pressure. Deletes itself once it has
// ended. Write() and End() are for one thread, cancelled() for any.
template <typename Response>
class AnswerStream final : public grpc::ServerWriteReactor<Response> {
 public:
  // Waits until gRPC has taken the answer; false when the caller has gone.
  bool Write(const Response& response) {
    MutexLock lock(mutex_);
    if (cancelled_) return false;
    writing_ = true;
    this->StartWrite(&response);
    while (writing_) changed_.Wait(mutex_);
    return !cancelled_;
  }

  // Ends the stream, which must not be used afterwards.
  void End(const absl::Status& status) {
    this->Finish(rpc::ToGrpcStatus(status));
  }

  bool cancelled() const {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) cancelled_ = true;
    changed_.NotifyAll();
  }
  void OnCancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    changed_.NotifyAll();
  }
  void OnDone() override { delete this; }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

// Runs `work`, which takes the stream and returns the call's status, on the
// queue. The request lives until it has returned. What it returns after the
// caller has gone is not seen by anybody.
template <typename Response, typename Work>
grpc::ServerWriteReactor<Response>* AnswerWithStream(WorkQueue& queue,
                                                     Work work) {
  auto* stream = new AnswerStream<Response>();
  const bool taken = queue.Submit([stream, work = std::move(work)]() mutable {
    stream->End(work(*stream));
  });
  if (!taken) stream->End(TooManyCalls());
  return stream;
}

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_CALLS_H_
