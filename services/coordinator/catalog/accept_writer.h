// Writes what somebody accepts, within a transaction.

#ifndef SERVICES_COORDINATOR_CATALOG_ACCEPT_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_ACCEPT_WRITER_H_

#include <cstdint>

#include "services/coordinator/catalog/accept_store.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// What is guarded in the project, or the project that has vanished, is hidden
// from now on and purged by PurgeSome().
Accepted AcceptDeletionsOf(WriteBatch& batch, int64_t project);

// The project's forbidden folders leave the frontier.
Accepted AcceptDeniedOf(WriteBatch& batch, int64_t project);

// Whether the folder's being forbidden is accepted.
bool IsDenialAccepted(Database& database, int64_t folder);

// Removes up to a few thousand accepted rows; false once none is left. To be
// done before anything is listed: a listing would find half of them.
bool PurgeSome(WriteBatch& batch);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_ACCEPT_WRITER_H_
