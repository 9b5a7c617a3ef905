// The snapshot step of a backup, over the snapshot folder's classes.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_WRITER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_WRITER_H_

#include <memory>

#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/coordinator/backup/snapshot_step.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/options.h"

namespace bimbackup::coordinator {

// All outlive the step.
std::unique_ptr<backup::SnapshotStep> MakeSnapshotWriter(
    const Options& options, catalog::Catalog& catalog,
    storage::Storage& storage, Clock& clock);

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_SNAPSHOT_WRITER_H_
