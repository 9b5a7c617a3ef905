#include "services/download_worker/engine/part_failure.h"

#include "clients/storage/storage_probe.h"

namespace bimbackup::engine {
namespace {

PartFailure ClassifyHttpStatus(int status) {
  switch (status) {
    case 400:
    case 401:
    case 403:
      // S3 says 400 or 403 for a signature it does not like or no longer.
      return {FailureAction::kSignAgain, Outcome::kRefused};
    case 404:
    case 410:
      return {FailureAction::kFail, Outcome::kNotFound};
    case 304:
    case 412:
    case 416:
      return {FailureAction::kRestart, Outcome::kCorrupt};
    case 408:
    case 429:
      return {FailureAction::kRetry, Outcome::kRetryable};
    default:
      if (status >= 500) return {FailureAction::kRetry, Outcome::kRetryable};
      return {FailureAction::kFail, Outcome::kInvalid};
  }
}

PartFailure ClassifyStorageError(const absl::Status& error) {
  const Outcome outcome = StorageOutcome(error);
  switch (outcome) {
    case Outcome::kInvalid:
      return {FailureAction::kFail, outcome};
    case Outcome::kCorrupt:
      return {FailureAction::kRestart, outcome};
    default:
      return {FailureAction::kStorage, outcome};
  }
}

}  // namespace

Outcome StorageOutcome(const absl::Status& error) {
  if (absl::IsInvalidArgument(error)) return Outcome::kInvalid;
  if (absl::IsDataLoss(error)) return Outcome::kCorrupt;
  if (storage::IsStorageClosed(error)) return Outcome::kStorageClosed;
  return Outcome::kStorageFailed;
}

PartFailure ClassifyPart(const PartResult& result) {
  switch (result.end) {
    case PartEnd::kHttpStatus:
      return ClassifyHttpStatus(result.http_status);
    case PartEnd::kRangeIgnored:
      return {FailureAction::kRestartWhole, Outcome::kInvalid};
    case PartEnd::kChanged:
      return {FailureAction::kRestart, Outcome::kCorrupt};
    case PartEnd::kStorage:
      return ClassifyStorageError(result.status);
    case PartEnd::kInvalid:
      return {FailureAction::kFail, Outcome::kInvalid};
    case PartEnd::kMalformed:
      return {FailureAction::kRetry, Outcome::kInvalid};
    case PartEnd::kTransport:
    case PartEnd::kComplete:
      break;
  }
  return {FailureAction::kRetry, Outcome::kRetryable};
}

bool IsOverload(const PartResult& result) {
  if (result.end == PartEnd::kTransport) {
    return !absl::IsCancelled(result.status);
  }
  return result.end == PartEnd::kHttpStatus &&
         (result.http_status == 429 || result.http_status >= 500);
}

}  // namespace bimbackup::engine
