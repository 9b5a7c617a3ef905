// AcceptChanges.

#ifndef SERVICES_COORDINATOR_RPC_ACCEPT_CALL_H_
#define SERVICES_COORDINATOR_RPC_ACCEPT_CALL_H_

#include "absl/status/status.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/catalog/accept_store.h"

namespace bimbackup::coordinator_rpc {

// Accepts the newest backup's findings; FAILED_PRECONDITION for another one,
// because what stands in the catalog is what the newest has found.
absl::Status AcceptChanges(backup::BackupRunner& runner,
                           catalog::AcceptStore& store,
                           const v1::AcceptChangesRequest& request,
                           v1::AcceptChangesResponse& response);

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_ACCEPT_CALL_H_
