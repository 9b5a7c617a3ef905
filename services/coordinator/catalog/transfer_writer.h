// Writes what became of transfers, within a transaction.

#ifndef SERVICES_COORDINATOR_CATALOG_TRANSFER_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_TRANSFER_WRITER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

inline constexpr int kAttemptsKept = 16;

// Does nothing to an unknown transfer, and to one that is stored.
void ApplyUpdate(WriteBatch& batch, const TransferUpdate& update);

// Fails up to `limit` of the backup's pending and leased transfers; false
// where no more are left.
bool FailOpenTransfers(WriteBatch& batch, BackupNumber backup,
                       absl::string_view reason, int limit);

// Removes up to `limit` transfers of backups older than the newest
// `backups_kept`; false where no more are left.
bool PruneOldTransfers(WriteBatch& batch, int backups_kept, int limit);

// A path as `transfers.path` holds it: names hold no NUL.
std::string JoinPath(const std::vector<std::string>& path);
std::vector<std::string> SplitPath(absl::string_view joined);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TRANSFER_WRITER_H_
