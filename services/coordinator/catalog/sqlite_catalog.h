// The catalog in one SQLite file.

#ifndef SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_H_
#define SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/catalog.h"

namespace bimbackup::catalog {

struct SqliteCatalogOptions {
  // Made where it does not exist; its parent must.
  std::string state_dir;
  // Memory for database pages, for all connections together.
  int64_t cache_bytes = 40 << 20;
};

// Opens `<state_dir>/catalog.db`, and makes it where there is none. Commits
// of many threads share transactions; readers never wait for them. One
// process at a time: `<state_dir>/catalog.lock` is held while this lives.
class SqliteCatalog {
 public:
  // FAILED_PRECONDITION: another process holds the catalog; or its schema is
  // newer than this program's, in which case nothing was touched. A catalog
  // of an older schema is copied to catalog.db.v<N>-<time>, then migrated.
  // `clock` and `random` outlive the catalog.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(
      const SqliteCatalogOptions& options, Clock& clock, Random& random);
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SQLITE_CATALOG_H_
