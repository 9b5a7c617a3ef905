// Following a backup to its end, through restarts of the coordinator.

#ifndef CLIENTS_CLI_WATCH_H_
#define CLIENTS_CLI_WATCH_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/progress.h"

namespace bimbackup::cli {

// Shows the backup `name` (or "backups/-") until it has ended; returns it
// then. A lost coordinator is dialled again for `patience` since it was last
// heard of, `first_patience` before it was heard of at all. The error of the
// last call otherwise.
absl::StatusOr<v1::Backup> WatchToEnd(const CoordinatorClient& client,
                                      absl::string_view name,
                                      absl::Duration first_patience,
                                      absl::Duration patience,
                                      Progress& progress);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_WATCH_H_
