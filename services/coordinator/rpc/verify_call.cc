#include "services/coordinator/rpc/verify_call.h"

#include <string>

#include "absl/status/statusor.h"
#include "clients/verify/messages.h"
#include "clients/verify/response_observer.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"

namespace bimbackup::coordinator_rpc {

VerifyCall::VerifyCall(storage::Storage& storage,
                       snapshot::DamageKeeper& keeper, Clock& clock,
                       Random& random)
    : verifier_(storage, clock, random), keeper_(keeper), clock_(clock) {}

grpc::ServerWriteReactor<v1::VerifySnapshotResponse>*
VerifyCall::VerifySnapshot(const v1::VerifySnapshotRequest& request) {
  return AnswerWithStream<v1::VerifySnapshotResponse>(
      queue_, [this, request](Stream& stream) -> absl::Status {
        if (running_.exchange(true)) {
          return absl::ResourceExhaustedError(
              "another verification is running; ask again when it has ended");
        }
        const absl::Status status = Run(request, stream);
        running_ = false;
        return status;
      });
}

absl::Status VerifyCall::Run(const v1::VerifySnapshotRequest& request,
                             Stream& stream) {
  ABSL_ASSIGN_OR_RETURN(const std::string id,
                        ReadName("snapshots", request.name()));
  verify::ResponseObserver observer(
      clock_,
      {.keep = [&](const verify::Damage& found) { return keeper_.Keep(found); },
       .write = [&](const auto& response) { stream.Write(response); },
       .cancelled = [&] { return stream.cancelled(); }});
  const auto progress =
      verifier_.Verify(id, verify::OptionsOf(request), observer);
  if (absl::IsUnavailable(progress.status())) {
    // The storage is, and not this service, as callers would understand it.
    return absl::FailedPreconditionError(progress.status().message());
  }
  ABSL_RETURN_IF_ERROR(progress.status());
  observer.Finish(*progress);
  return absl::OkStatus();
}

}  // namespace bimbackup::coordinator_rpc
