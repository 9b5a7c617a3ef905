// RestoreSnapshot and ReadBlob: what whoever restores asks for.

#ifndef SERVICES_COORDINATOR_RPC_RESTORE_CALLS_H_
#define SERVICES_COORDINATOR_RPC_RESTORE_CALLS_H_

#include <atomic>
#include <memory>

#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "clients/restore/storage_source.h"
#include "clients/storage/storage.h"
#include "grpcpp/grpcpp.h"
#include "services/coordinator/rpc/work_queue.h"

namespace bimbackup::coordinator_rpc {

// Thread-safe. Outlives the server that its streams belong to.
class RestoreCalls {
 public:
  // `storage` outlives it.
  explicit RestoreCalls(storage::Storage& storage);

  grpc::ServerWriteReactor<v1::RestoreSnapshotResponse>* RestoreSnapshot(
      const v1::RestoreSnapshotRequest& request);
  grpc::ServerWriteReactor<v1::ReadBlobResponse>* ReadBlob(
      const v1::ReadBlobRequest& request);

 private:
  // Counts a stream while it lives; null where there are too many.
  std::shared_ptr<void> TakeSlot();

  restore::StorageSource source_;
  std::atomic<int> streams_ = 0;
  // Last: its work uses the above.
  WorkQueue queue_;
};

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_RESTORE_CALLS_H_
