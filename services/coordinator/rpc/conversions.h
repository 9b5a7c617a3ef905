// Between the wire's messages and the domain's values.

#ifndef SERVICES_COORDINATOR_RPC_CONVERSIONS_H_
#define SERVICES_COORDINATOR_RPC_CONVERSIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "bimbackup/v1/transfer.pb.h"
#include "bimbackup/v1/worker_pool_service.pb.h"
#include "clients/bim360/bim360_client.h"
#include "clients/snapshots/wire/snapshot_messages.h"
#include "services/coordinator/backup/backup_view.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/lease/types.h"

namespace bimbackup::coordinator_rpc {

// The id in "<collection>/<id>"; INVALID_ARGUMENT for another form.
absl::StatusOr<std::string> ReadName(absl::string_view collection,
                                     absl::string_view name);

using snapshots::ToProto;
using snapshots::ToTimestamp;

catalog::BackupRequest FromProto(const v1::StartBackupRequest& request);
v1::Backup ToProto(const backup::BackupView& view);

v1::TransferRecord ToProto(const catalog::TransferRecord& transfer);
v1::TransferRecord ToProto(const catalog::UnlistedRecord& unlisted);
v1::TransferAttempt ToProto(const catalog::AttemptRecord& attempt);
v1::Worker ToProto(const lease::WorkerInfo& worker);

lease::WorkerReport FromProto(const v1::SynchronizeRequest& request);
// `now` is monotonic: URLs carry the time for which they are still good.
v1::SynchronizeResponse ToProto(const lease::SynchronizeAnswer& answer,
                                absl::Duration now);
v1::DownloadSource ToProto(const bim360::SignedDownload& download,
                           absl::Duration now);

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_CONVERSIONS_H_
