// What becomes, at the crawl's end, of what it did not see.

#ifndef SERVICES_COORDINATOR_CATALOG_CRAWL_END_H_
#define SERVICES_COORDINATOR_CATALOG_CRAWL_END_H_

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// More than this many of a project's files, and more than this share of them,
// are not believed to be gone; nor are more than this many at once with which
// a folder that still stands became empty.
inline constexpr int64_t kGuardedFiles = 100;
inline constexpr int kGuardedPercent = 20;

// Removes or guards what is missing; lets it stand in projects where
// something is still in the frontier, or was blocked for the first time.
void SettleMissing(WriteBatch& batch, BackupNumber backup);

// Names what is still in the frontier as unlisted, for `reason`.
void CloseFrontier(WriteBatch& batch, absl::string_view reason);

// Sets the counters that only the end can tell.
void CountAtEnd(WriteBatch& batch, BackupNumber backup);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CRAWL_END_H_
