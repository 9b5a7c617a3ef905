// RebuildLatestView: the latest view made anew, with its progress.

#ifndef SERVICES_COORDINATOR_RPC_REBUILD_LATEST_CALL_H_
#define SERVICES_COORDINATOR_RPC_REBUILD_LATEST_CALL_H_

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/rpc/calls.h"
#include "services/coordinator/rpc/work_queue.h"
#include "services/coordinator/snapshot/storage_snapshot_step.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe.
class RebuildLatestCall {
 public:
  // All outlive it. It outlives the server that its streams belong to.
  RebuildLatestCall(backup::BackupRunner& runner,
                    snapshot::StorageSnapshotStep& snapshot, Clock& clock)
      : runner_(runner), snapshot_(snapshot), clock_(clock) {}

  // Ends soon after its caller has gone; the next backup then goes on.
  grpc::ServerWriteReactor<v1::RebuildLatestViewResponse>* RebuildLatestView();

 private:
  using Stream = AnswerStream<v1::RebuildLatestViewResponse>;

  absl::Status Run(Stream& stream);

  backup::BackupRunner& runner_;
  snapshot::StorageSnapshotStep& snapshot_;
  Clock& clock_;
  // Last: its work uses the above. Two, so that one can be refused.
  WorkQueue queue_{/*max_threads=*/2, /*max_queued=*/16};
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_REBUILD_LATEST_CALL_H_
