// The catalog: the coordinator's database, as the four stores that its parts
// see.

#ifndef SERVICES_COORDINATOR_CATALOG_CATALOG_H_
#define SERVICES_COORDINATOR_CATALOG_CATALOG_H_

#include "services/coordinator/catalog/backup_store.h"
#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/catalog/transfer_store.h"
#include "services/coordinator/catalog/tree_store.h"

namespace bimbackup::catalog {

// Everything at once. A part takes the one store that it needs.
class Catalog : public BackupStore,
                public CrawlStore,
                public TransferStore,
                public TreeStore {};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CATALOG_H_
