// Lists of snapshots and of what they hold: the coordinator's, or those of a
// storage that is read without one.

#ifndef CLIENTS_CLI_SNAPSHOT_LISTS_H_
#define CLIENTS_CLI_SNAPSHOT_LISTS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "clients/cli/command.h"
#include "clients/storage/storage.h"

namespace bimbackup::cli {

// `name` as a snapshot's resource name; "latest", "-" and nothing are the
// newest.
std::string SnapshotName(absl::string_view name);

// Opens what is left of a storage; writes nothing.
absl::StatusOr<std::unique_ptr<storage::Storage>> OpenStorageToRead(
    const std::string& url);

// ReportFailure() where no server is involved: what cannot be reached is
// kExitFailed as well.
int ReportStorageFailure(const CommandContext& context, absl::string_view what,
                         const absl::Status& status);

// Hands every page to `on_page` until it returns false. Of the coordinator's
// where `storage_url` is empty.
absl::Status ListSnapshots(
    const CommandContext& context, const std::string& storage_url,
    const std::function<bool(const v1::ListSnapshotsResponse&)>& on_page);
absl::Status ListFiles(
    const CommandContext& context, const std::string& storage_url,
    const v1::ListFilesRequest& request,
    const std::function<bool(const v1::ListFilesResponse&)>& on_page);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_SNAPSHOT_LISTS_H_
