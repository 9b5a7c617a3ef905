// Writes pages of the hub's projects, within a transaction.

#ifndef SERVICES_COORDINATOR_CATALOG_PROJECT_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_PROJECT_WRITER_H_

#include <cstdint>

#include "clients/bim360/bim360_client.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// A project that the listing `task` saw; pushes its topmost folders where
// `wanted`.
void WriteProject(WriteBatch& batch, int64_t task,
                  const bim360::Project& project, bool wanted);

// The listing `task` is complete: what it did not see has vanished, unless
// it saw nothing at all.
void MarkVanishedProjects(WriteBatch& batch, int64_t task);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_PROJECT_WRITER_H_
