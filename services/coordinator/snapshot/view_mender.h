// Puts into the latest view again what was fetched again.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_VIEW_MENDER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_VIEW_MENDER_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/damage_store.h"

namespace bimbackup::snapshot {

// A file of the view that is a hard link to a damaged blob still has its
// bytes when a good blob has taken that one's place. Thread-compatible.
class ViewMender {
 public:
  // Both outlive the mender.
  ViewMender(catalog::DamageStore& store, storage::Storage& storage)
      : store_(store), storage_(storage) {}

  // Puts every file of the snapshot, which the view shows, whose blob was
  // mended; then the catalog need not remember those any more. Costs nothing
  // where there are none. May be interrupted, and repeated.
  absl::Status Mend(const storage::format::Snapshot& snapshot);

 private:
  absl::Status PutAgain(const storage::format::Snapshot& snapshot,
                        const std::set<std::string>& mended);

  catalog::DamageStore& store_;
  storage::Storage& storage_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_VIEW_MENDER_H_
