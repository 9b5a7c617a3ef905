// Between the messages of bimbackup.v1 and the worker's own values.

#ifndef SERVICES_DOWNLOAD_WORKER_RPC_CONVERSION_H_
#define SERVICES_DOWNLOAD_WORKER_RPC_CONVERSION_H_

#include "absl/time/time.h"
#include "bimbackup/v1/transfer.pb.h"
#include "bimbackup/v1/worker_pool_service.pb.h"
#include "services/download_worker/engine/transfer_task.h"
#include "services/download_worker/lease/worker_pool.h"

namespace bimbackup::worker_rpc {

// `now` is the engine's monotonic time at which the message came.
engine::Source FromProto(const v1::DownloadSource& source, absl::Duration now);

engine::TransferTask FromProto(const v1::GrantedLease& lease,
                               absl::Duration now);

worker_lease::SyncResponse FromProto(const v1::SynchronizeResponse& response,
                                     absl::Duration now);

v1::TransferResult ToProto(const worker_lease::FinishedLease& finished);

// Fills everything but who the worker is.
void AddToProto(const worker_lease::SyncRequest& request,
                v1::SynchronizeRequest& proto);

}  // namespace bimbackup::worker_rpc

#endif  // SERVICES_DOWNLOAD_WORKER_RPC_CONVERSION_H_
