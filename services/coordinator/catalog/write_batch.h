// What operations of one transaction have in common.

#ifndef SERVICES_COORDINATOR_CATALOG_WRITE_BATCH_H_
#define SERVICES_COORDINATOR_CATALOG_WRITE_BATCH_H_

#include <cstdint>
#include <map>

#include "services/coordinator/catalog/known_hashes.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// The writer's connection within a transaction, with changes to counters and
// flags that are gathered and written once, at its end. Not thread-safe.
class WriteBatch {
 public:
  // `hashes` are the connection's.
  WriteBatch(Database& database, KnownHashes& hashes)
      : database_(database), hashes_(hashes) {}

  Database& database() { return database_; }
  KnownHashes& hashes() { return hashes_; }

  // To be added to the backup's counters; `api_calls` is not looked at.
  BackupCounters& Counters(BackupNumber backup) { return counters_[backup]; }

  // Something that the project's manifest would show has changed.
  void MarkChanged(int64_t project) { projects_[project].changed = true; }

  // To be added to what is known of the project.
  void AddTotals(int64_t project, int64_t folders, int64_t files,
                 int64_t bytes);

  // The id of the transfer that is made next. Nobody else makes any meanwhile.
  int64_t TakeTransferId();

  // Writes what was gathered.
  void Flush();

 private:
  struct ProjectDelta {
    bool changed = false;
    int64_t folders = 0;
    int64_t files = 0;
    int64_t bytes = 0;
  };

  Database& database_;
  KnownHashes& hashes_;
  std::map<BackupNumber, BackupCounters> counters_;
  std::map<int64_t, ProjectDelta> projects_;
  // 0 before the first is taken.
  int64_t next_transfer_ = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_WRITE_BATCH_H_
