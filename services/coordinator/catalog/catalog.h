// The catalog: the coordinator's database, as the stores that its parts
// see.

#ifndef SERVICES_COORDINATOR_CATALOG_CATALOG_H_
#define SERVICES_COORDINATOR_CATALOG_CATALOG_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/accept_store.h"
#include "services/coordinator/catalog/backup_store.h"
#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/catalog/damage_store.h"
#include "services/coordinator/catalog/sweep_store.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/catalog/tree_store.h"

namespace bimbackup::catalog {

// Everything at once. A part takes the one store that it needs.
class Catalog : public BackupStore,
                public CrawlStore,
                public TransferStore,
                public TreeStore,
                public SweepStore,
                public AcceptStore,
                public DamageStore {
 public:
  // Takes the bytes of a copy, in order; an error ends the copying. It is
  // called with none while they are made ready, too.
  using CopySink = std::function<absl::Status(absl::string_view bytes)>;

  // Passes on a consistent copy of the whole catalog, as it is at the
  // beginning, without holding writers up. Errors as BackupStore's, and
  // `sink`'s. It needs room for itself in the state folder meanwhile.
  virtual absl::Status StreamCopy(const CopySink& sink) = 0;

  // Removes some of the transfers, with their attempts, of backups older than
  // the newest `backups_kept`; true while there are more.
  virtual absl::StatusOr<bool> PruneTransfers(int backups_kept) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CATALOG_H_
