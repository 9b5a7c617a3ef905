// Brings a lost catalog back from what stands in the storage.

#ifndef SERVICES_COORDINATOR_REBUILD_CATALOG_REBUILDER_H_
#define SERVICES_COORDINATOR_REBUILD_CATALOG_REBUILDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"

namespace bimbackup::rebuild {

// Makes the catalog of a storage that holds snapshots, in a state folder that
// holds none. It starts from the newest copy of the catalog in the storage
// that is whole and belongs to it, and brings in the snapshots that are newer;
// without such a copy from nothing, and brings in all.
//
// From a snapshot come every stored object whose blob is there with its size,
// the backup that left it, and from the newest one the tree of projects,
// folders and files, with what stood guarded or carried in it. What only the
// crawl knows (when a folder was listed, and as what) comes from a copy alone:
// without it everything is listed once, and nothing fetched that is there.
// What the latest view shows is known where the copy is of the newest
// snapshot; else the next backup makes it anew.
//
// A snapshot, manifest or copy that is torn is named in the log and passed
// over. Memory is bounded. The catalog comes into its place at the end: a call
// that was interrupted starts over.
//
// FAILED_PRECONDITION where the snapshots are another account's or another
// process uses the state folder; ALREADY_EXISTS where that holds a catalog;
// else errors of storage and catalog.
absl::Status RebuildCatalog(storage::Storage& storage,
                            const std::string& state_dir,
                            absl::string_view account_id, Clock& clock);

}  // namespace bimbackup::rebuild

#endif  // SERVICES_COORDINATOR_REBUILD_CATALOG_REBUILDER_H_
