// VerifySnapshot: one verification at a time.

#ifndef SERVICES_COORDINATOR_RPC_VERIFY_CALL_H_
#define SERVICES_COORDINATOR_RPC_VERIFY_CALL_H_

#include <atomic>

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/storage/storage.h"
#include "clients/verify/snapshot_verifier.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/rpc/calls.h"
#include "services/coordinator/rpc/work_queue.h"
#include "services/coordinator/snapshot/damage_keeper.h"

namespace bimbackup::coordinator_rpc {

// Reads at its leisure what the whole storage holds, so a second verification
// beside it would only make both slow. Thread-safe.
class VerifyCall {
 public:
  // All outlive it. It outlives the server that its streams belong to.
  VerifyCall(storage::Storage& storage, snapshot::DamageKeeper& keeper,
             Clock& clock, Random& random);

  // Ends as RESOURCE_EXHAUSTED while another verification runs, and soon
  // after its caller has gone.
  grpc::ServerWriteReactor<v1::VerifySnapshotResponse>* VerifySnapshot(
      const v1::VerifySnapshotRequest& request);

 private:
  using Stream = AnswerStream<v1::VerifySnapshotResponse>;

  absl::Status Run(const v1::VerifySnapshotRequest& request, Stream& stream);

  verify::SnapshotVerifier verifier_;
  snapshot::DamageKeeper& keeper_;
  Clock& clock_;
  std::atomic<bool> running_ = false;
  // Last: its work uses the above. Two, so that one can be refused.
  WorkQueue queue_{/*max_threads=*/2, /*max_queued=*/16};
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_VERIFY_CALL_H_
