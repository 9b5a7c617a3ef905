// DiffSnapshots.

#ifndef SERVICES_COORDINATOR_RPC_DIFF_CALL_H_
#define SERVICES_COORDINATOR_RPC_DIFF_CALL_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "clients/snapshot_diff/snapshot_diff.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe.
class DiffCall {
 public:
  // All outlive it.
  DiffCall(storage::Storage& storage, Clock& clock, std::string scratch_folder)
      : diff_(storage, clock, std::move(scratch_folder)) {}

  // As the RPC. CANCELLED soon after `cancelled` says so.
  absl::Status DiffSnapshots(const v1::DiffSnapshotsRequest& request,
                             const std::function<bool()>& cancelled,
                             v1::DiffSnapshotsResponse& response);

 private:
  absl::StatusOr<snapshot_diff::DiffPosition> Begin(
      const v1::DiffSnapshotsRequest& request);

  snapshot_diff::SnapshotDiff diff_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_DIFF_CALL_H_
