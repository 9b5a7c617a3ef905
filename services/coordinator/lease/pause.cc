#include "services/coordinator/lease/pause.h"

#include "services/coordinator/catalog/catalog_error.h"

namespace bimbackup::lease {
namespace {

PauseReason ReasonOf(const absl::Status& status) {
  if (status.ok()) return PauseReason::kNone;
  if (catalog::IsCatalogError(status)) {
    return absl::IsResourceExhausted(status) ? PauseReason::kCatalogFull
                                             : PauseReason::kCatalogFailed;
  }
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      return PauseReason::kStorageFull;
    case absl::StatusCode::kPermissionDenied:
      return PauseReason::kStorageDenied;
    case absl::StatusCode::kFailedPrecondition:
      return PauseReason::kStorageMissing;
    default:
      return PauseReason::kStorageFailed;
  }
}

}  // namespace

absl::string_view PauseReasonName(PauseReason reason) {
  switch (reason) {
    case PauseReason::kNone:
      return "none";
    case PauseReason::kStorageFull:
      return "storage_full";
    case PauseReason::kStorageDenied:
      return "storage_denied";
    case PauseReason::kStorageMissing:
      return "storage_missing";
    case PauseReason::kStorageFailed:
      return "storage_failed";
    case PauseReason::kWorkerStorage:
      return "worker_storage";
    case PauseReason::kCatalogFull:
      return "catalog_full";
    case PauseReason::kCatalogFailed:
      return "catalog_failed";
  }
  return "";
}

Pause MakePause(const absl::Status& status) {
  return {ReasonOf(status),
          std::string(status.message().data(), status.message().size())};
}

}  // namespace bimbackup::lease
