#include "services/coordinator/rpc/forget_call.h"

#include <string>
#include <vector>

#include "services/common/rpc/request_bounds.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"

namespace bimbackup::coordinator_rpc {
namespace {

using retention::Decision;
using retention::ForgetProgress;
using retention::ForgetRequest;
using retention::SnapshotRow;

constexpr int kDecisionsAMessage = 1000;
constexpr absl::Duration kBetweenMessages = absl::Milliseconds(500);

v1::Snapshot SnapshotOf(const SnapshotRow& row) {
  v1::Snapshot snapshot = ToProto(row.head);
  if (!row.problem.empty()) snapshot.clear_state();
  snapshot.set_projects(row.projects);
  snapshot.set_files(row.counts.files);
  snapshot.set_folders(row.counts.folders);
  snapshot.set_bytes(row.counts.bytes);
  snapshot.set_incomplete(row.counts.carried + row.counts.failed +
                          row.counts.guarded);
  snapshot.set_is_protected(row.is_protected);
  snapshot.set_damage(row.problem);
  return snapshot;
}

absl::StatusOr<ForgetRequest> RequestOf(
    const v1::ForgetSnapshotsRequest& request) {
  ABSL_RETURN_IF_ERROR(rpc::CheckRequest(request));
  ForgetRequest out;
  out.dry_run = request.validate_only();
  out.sweep_only = request.sweep_only();
  const v1::RetentionPolicy& policy = request.policy();
  out.policy.last = policy.keep_last();
  out.policy.daily = policy.keep_daily();
  out.policy.weekly = policy.keep_weekly();
  out.policy.monthly = policy.keep_monthly();
  out.policy.yearly = policy.keep_yearly();
  ABSL_ASSIGN_OR_RETURN(out.policy.within,
                        retention::ParseSpan(policy.keep_within()));
  for (const std::string& name : request.names()) {
    ABSL_ASSIGN_OR_RETURN(std::string id, ReadName("snapshots", name));
    out.ids.push_back(std::move(id));
  }
  return out;
}

void SetProgress(const ForgetProgress& progress,
                 v1::ForgetSnapshotsResponse& response) {
  response.set_snapshots_removed(progress.snapshots_removed);
  response.set_manifests_removed(progress.sweep.manifests_removed);
  response.set_blobs_removed(progress.sweep.blobs_removed);
  response.set_bytes_removed(progress.sweep.bytes_removed);
  response.set_blobs_kept(progress.sweep.blobs_kept);
}

// Tells the caller; progress twice a second at most.
class StreamObserver final : public retention::ForgetObserver {
 public:
  StreamObserver(AnswerStream<v1::ForgetSnapshotsResponse>& stream,
                 Clock& clock)
      : stream_(stream), clock_(clock) {}

  void OnDecisions(const std::vector<Decision>& decisions) override {
    v1::ForgetSnapshotsResponse response;
    for (const Decision& decision : decisions) {
      v1::SnapshotDecision& added = *response.add_decisions();
      *added.mutable_snapshot() = SnapshotOf(decision.row);
      added.set_kept(decision.kept);
      added.mutable_reasons()->Assign(decision.reasons.begin(),
                                      decision.reasons.end());
      if (response.decisions_size() < kDecisionsAMessage) continue;
      stream_.Write(response);
      response.Clear();
    }
    if (response.decisions_size() > 0) stream_.Write(response);
  }

  void OnProgress(const ForgetProgress& progress) override {
    progress_ = progress;
    const absl::Duration now = clock_.Monotonic();
    if (now < next_) return;
    next_ = now + kBetweenMessages;
    v1::ForgetSnapshotsResponse response;
    SetProgress(progress_, response);
    stream_.Write(response);
  }

  bool Cancelled() override { return stream_.cancelled(); }

  void Finish() {
    v1::ForgetSnapshotsResponse response;
    SetProgress(progress_, response);
    response.set_done(true);
    stream_.Write(response);
  }

 private:
  AnswerStream<v1::ForgetSnapshotsResponse>& stream_;
  Clock& clock_;
  ForgetProgress progress_;
  absl::Duration next_ = -absl::InfiniteDuration();
};

// It is the storage that cannot be reached, not this service, as callers
// would understand UNAVAILABLE.
absl::Status OfStorage(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::FailedPreconditionError(status.message());
}

}  // namespace

grpc::ServerWriteReactor<v1::ForgetSnapshotsResponse>*
ForgetCall::ForgetSnapshots(const v1::ForgetSnapshotsRequest& request) {
  return AnswerWithStream<v1::ForgetSnapshotsResponse>(
      queue_, [this, request](Stream& stream) {
        return OfStorage(Run(request, stream));
      });
}

absl::Status ForgetCall::Run(const v1::ForgetSnapshotsRequest& request,
                             Stream& stream) {
  ABSL_ASSIGN_OR_RETURN(const ForgetRequest wanted, RequestOf(request));
  StreamObserver observer(stream, clock_);
  ABSL_RETURN_IF_ERROR(forgetter_.Forget(wanted, observer));
  observer.Finish();
  return absl::OkStatus();
}

absl::Status ForgetCall::ProtectSnapshot(
    const v1::ProtectSnapshotRequest& request,
    v1::ProtectSnapshotResponse& response) {
  ABSL_ASSIGN_OR_RETURN(const std::string id,
                        ReadName("snapshots", request.name()));
  const absl::StatusOr<SnapshotRow> row =
      forgetter_.Protect(id, request.is_protected());
  ABSL_RETURN_IF_ERROR(OfStorage(row.status()));
  *response.mutable_snapshot() = SnapshotOf(*row);
  return absl::OkStatus();
}

}  // namespace bimbackup::coordinator_rpc
