// ForgetSnapshots and ProtectSnapshot.

#ifndef SERVICES_COORDINATOR_RPC_FORGET_CALL_H_
#define SERVICES_COORDINATOR_RPC_FORGET_CALL_H_

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/coordinator/retention/forgetter.h"
#include "services/coordinator/rpc/calls.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe.
class ForgetCall {
 public:
  // Both outlive it. It outlives the server that its streams belong to.
  ForgetCall(retention::Forgetter& forgetter, Clock& clock)
      : forgetter_(forgetter), clock_(clock) {}

  // Ends as ABORTED while another one runs, and soon after its caller has
  // gone.
  grpc::ServerWriteReactor<v1::ForgetSnapshotsResponse>* ForgetSnapshots(
      const v1::ForgetSnapshotsRequest& request);

  absl::Status ProtectSnapshot(const v1::ProtectSnapshotRequest& request,
                               v1::ProtectSnapshotResponse& response);

 private:
  using Stream = AnswerStream<v1::ForgetSnapshotsResponse>;

  absl::Status Run(const v1::ForgetSnapshotsRequest& request, Stream& stream);

  retention::Forgetter& forgetter_;
  Clock& clock_;
  // Last: its work uses the above. Two, so that one can be refused.
  WorkQueue queue_{/*max_threads=*/2, /*max_queued=*/16};
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_FORGET_CALL_H_
