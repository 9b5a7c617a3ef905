#include "clients/verify/snapshot_verifier.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/verify/verification.h"
#include "services/common/status_macros.h"

namespace bimbackup::verify {
namespace {

absl::Status CheckOptions(const VerifyOptions& options) {
  if (options.parts < 1 || options.part < 1 || options.part > options.parts) {
    return absl::InvalidArgumentError(absl::StrCat(
        "part ", options.part, "/", options.parts, " is none of 1/N to N/N"));
  }
  // Not a number either.
  if (!(options.percent > 0 && options.percent <= 100)) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.percent, " percent are not above 0 and up to 100"));
  }
  if (options.max_bandwidth < 0) {
    return absl::InvalidArgumentError("the bandwidth is below zero");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VerifyProgress> SnapshotVerifier::Verify(
    absl::string_view id, const VerifyOptions& options,
    VerifyObserver& observer) {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  std::string snapshot(id.data(), id.size());
  if (snapshot == "-") {
    ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                          storage::format::ListSnapshotIds(storage_));
    if (ids.empty()) return absl::NotFoundError("there is no snapshot yet");
    snapshot = ids.back();
  }
  Verification verification(storage_, clock_, random_.Next(), options,
                            observer);
  ABSL_RETURN_IF_ERROR(verification.Run(snapshot));
  return verification.progress();
}

}  // namespace bimbackup::verify
