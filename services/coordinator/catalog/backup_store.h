// The catalog's backups: which ran, which runs, how far it is.

#ifndef SERVICES_COORDINATOR_CATALOG_BACKUP_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_BACKUP_STORE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// Thread-safe. Every change is durable against the death of the process when
// its call returns. Errors: NOT_FOUND, INTERNAL (the database failed),
// RESOURCE_EXHAUSTED (no room in the state folder), and those named.
class BackupStore {
 public:
  virtual ~BackupStore() = default;

  // Makes a backup in state kCrawling. ABORTED, naming it, while one runs.
  // The backup that a known, non-empty request_id started is returned as it
  // is.
  virtual absl::StatusOr<BackupRecord> CreateBackup(
      const BackupRequest& request) = 0;

  virtual absl::StatusOr<BackupRecord> GetBackup(absl::string_view id) = 0;

  // The backup that has not ended; nothing where there is none.
  virtual absl::StatusOr<std::optional<BackupRecord>> GetRunningBackup() = 0;

  // Up to `limit` backups with numbers below `before` (0: from the newest),
  // newest first.
  virtual absl::StatusOr<std::vector<BackupRecord>> ListBackups(
      BackupNumber before, int limit) = 0;

  // Sets state and message; an end state sets end_time too. A state that has
  // ended is never changed: FAILED_PRECONDITION.
  virtual absl::Status SetBackupState(BackupNumber number, BackupState state,
                                      absl::string_view message) = 0;

  // Adds API calls to the backup's counters.
  virtual absl::Status AddApiCalls(
      BackupNumber number, const std::map<std::string, int64_t>& calls) = 0;

  // What is known to exist. Cheap.
  virtual absl::StatusOr<AccountTotals> GetTotals() = 0;

  // Small values by name: the storage's id, the API's hub. NOT_FOUND for one
  // that was never set.
  virtual absl::StatusOr<std::string> GetSetting(absl::string_view name) = 0;
  virtual absl::Status SetSetting(absl::string_view name,
                                  absl::string_view value) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_BACKUP_STORE_H_
