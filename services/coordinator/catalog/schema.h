// The catalog's tables, and how those of older versions become today's.

#ifndef SERVICES_COORDINATOR_CATALOG_SCHEMA_H_
#define SERVICES_COORDINATOR_CATALOG_SCHEMA_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/coordinator/catalog/sqlite_database.h"

namespace bimbackup::catalog {

// The newest version, which is the number of steps.
inline constexpr int kSchemaVersion = 5;

// What leads from version `version` - 1 to `version`; 1 starts from nothing.
const char* SchemaStep(int version);

// Brings the database at `path` to kSchemaVersion in one transaction, from
// nothing or from an older version, of which it leaves a copy beside it,
// "<path>.v<N>-<time>". FAILED_PRECONDITION, with nothing touched, for a
// newer version.
absl::Status MigrateSchema(Database& database, const std::string& path,
                           absl::Time now);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SCHEMA_H_
