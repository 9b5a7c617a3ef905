// Tells the catalog's errors from those of everything else that a status goes
// through on its way up.

#ifndef SERVICES_COORDINATOR_CATALOG_CATALOG_ERROR_H_
#define SERVICES_COORDINATOR_CATALOG_CATALOG_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace bimbackup::catalog {

inline constexpr char kCatalogErrorUrl[] = "bimbackup/catalog";

// `status` as one of the catalog's: the state folder, not the storage, is what
// somebody has to look at.
inline absl::Status MarkCatalogError(absl::Status status) {
  status.SetPayload(kCatalogErrorUrl, absl::Cord());
  return status;
}

inline bool IsCatalogError(const absl::Status& status) {
  return status.GetPayload(kCatalogErrorUrl).has_value();
}

// Whether the same change may succeed once somebody has made room in the state
// folder, or given it back.
inline bool MayPassInCatalog(const absl::Status& status) {
  return IsCatalogError(status) &&
         (absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
          absl::IsPermissionDenied(status));
}

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CATALOG_ERROR_H_
