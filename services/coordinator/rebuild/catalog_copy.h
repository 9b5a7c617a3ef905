// Copies of the catalog in the storage, for the day on which the state folder
// is lost.

#ifndef SERVICES_COORDINATOR_REBUILD_CATALOG_COPY_H_
#define SERVICES_COORDINATOR_REBUILD_CATALOG_COPY_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/catalog.h"

namespace bimbackup::rebuild {

// Newest first: with the one before, a copy that comes out damaged costs one
// night's knowledge, not all.
inline constexpr int kCopiesKept = 2;

// Stores a compressed copy as "catalog/<snapshot id>.db.zst" and removes all
// but the newest. A copy that is there for this snapshot stands. CANCELLED,
// with nothing stored, soon after `stopping` has said so.
absl::Status StoreCatalogCopy(catalog::Catalog& catalog,
                              storage::Storage& storage,
                              absl::string_view snapshot_id,
                              const std::function<bool()>& stopping);

// Keys of the copies, newest first.
absl::StatusOr<std::vector<std::string>> ListCatalogCopies(
    storage::Storage& storage);

// Passes on the bytes of a copy, decompressed, in order. DATA_LOSS where it
// is not whole; `sink`'s errors.
absl::Status ReadCatalogCopy(
    storage::Storage& storage, absl::string_view key,
    const std::function<absl::Status(absl::string_view bytes)>& sink);

}  // namespace bimbackup::rebuild

#endif  // SERVICES_COORDINATOR_REBUILD_CATALOG_COPY_H_
