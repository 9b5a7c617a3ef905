#include "services/coordinator/rpc/rebuild_latest_call.h"

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::coordinator_rpc {
namespace {

constexpr absl::Duration kBetweenAnswers = absl::Milliseconds(250);

// What the view will hold, but for files that have no bytes.
int64_t CountEntries(const storage::format::Snapshot& snapshot) {
  int64_t entries = 0;
  for (const storage::format::SnapshotProject& project : snapshot.projects) {
    entries += project.counts.files + project.counts.folders -
               project.counts.no_content;
  }
  return entries;
}

absl::Status Gone() { return absl::CancelledError("the caller has gone"); }

}  // namespace

grpc::ServerWriteReactor<v1::RebuildLatestViewResponse>*
RebuildLatestCall::RebuildLatestView() {
  return AnswerWithStream<v1::RebuildLatestViewResponse>(
      queue_, [this](Stream& stream) { return Run(stream); });
}

absl::Status RebuildLatestCall::Run(Stream& stream) {
  const absl::StatusOr<backup::BackupView> newest = runner_.GetBackup("-");
  if (newest.ok() &&
      newest->record.state == catalog::BackupState::kCommitting) {
    return absl::AbortedError(
        absl::StrCat("backups/", newest->record.id,
                     " commits now, and brings the latest view up to date"));
  }
  v1::RebuildLatestViewResponse response;
  absl::Duration next = clock_.Monotonic();
  const auto begun = [&](const storage::format::Snapshot& snapshot) {
    response.set_snapshot(absl::StrCat("snapshots/", snapshot.id));
    response.set_entries(CountEntries(snapshot));
    return stream.Write(response) ? absl::OkStatus() : Gone();
  };
  const auto progress = [&](int64_t entries) {
    response.set_entries_done(entries);
    if (clock_.Monotonic() < next) {
      return stream.cancelled() ? Gone() : absl::OkStatus();
    }
    next = clock_.Monotonic() + kBetweenAnswers;
    return stream.Write(response) ? absl::OkStatus() : Gone();
  };
  ABSL_RETURN_IF_ERROR(snapshot_.RebuildLatest(begun, progress));
  response.set_entries(response.entries_done());
  response.set_done(true);
  return stream.Write(response) ? absl::OkStatus() : Gone();
}

}  // namespace bimbackup::coordinator_rpc
