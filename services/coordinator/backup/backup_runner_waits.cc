// How a run waits for a storage or a state folder that cannot be written.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/coordinator/backup/backup_runner.h"

namespace bimbackup::backup {

using catalog::BackupRecord;

namespace {

// Between attempts to write to a disk that is full or gone: at first and at
// most.
constexpr absl::Duration kFirstWait = absl::Milliseconds(500);
constexpr absl::Duration kLongestWait = absl::Seconds(30);

// How long a snapshot is tried when what is wrong will hardly mend itself.
constexpr absl::Duration kSnapshotPatience = absl::Hours(1);

// Whether somebody has to make room, give back rights or plug something in
// again: the backup pauses until then.
bool Pauses(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) ||
         absl::IsPermissionDenied(status);
}

}  // namespace

void BackupRunner::SetPause(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (!pause_.on() && status.ok()) return;
    pause_ = lease::MakePause(status);
  }
  watches_.Notify(/*at_once=*/true);
}

absl::Status BackupRunner::WaitToWrite(
    const BackupRecord& record, absl::string_view what,
    const std::function<absl::Status()>& write) {
  absl::Duration wait = kFirstWait;
  const absl::Duration patience = clock_.Monotonic() + kSnapshotPatience;
  const absl::Duration pause_end = std::max(patience, Deadline(record));
  while (true) {
    absl::Status status = write();
    if (status.ok()) SetPause(status);
    // Not there, as opposed to not as it should be.
    const bool gone = absl::IsFailedPrecondition(status) &&
                      absl::IsFailedPrecondition(storage_.CheckMarker());
    MutexLock lock(mutex_);
    if (stopping_) return absl::CancelledError("the coordinator is stopping");
    if (status.ok()) return status;
    if (cancelled_) return absl::CancelledError("cancelled on request");
    const std::string problem = absl::StrCat(what, ": ", status.message());
    const bool pauses = Pauses(status) || gone;
    if ((!pauses && !absl::IsFailedPrecondition(status)) ||
        clock_.Monotonic() >= (pauses ? pause_end : patience)) {
      pause_ = lease::Pause();
      return absl::Status(status.code(), problem);
    }
    spdlog::warn("backup {}: {}; it is tried again", record.id, problem);
    pause_ = {lease::MakePause(status).reason, problem};
    Await(wait, /*heed_cancel=*/true);
  }
}

absl::Status BackupRunner::Persist(const BackupRecord& record,
                                   const std::function<absl::Status()>& write) {
  absl::Duration wait = kFirstWait;
  while (true) {
    const absl::Status status = write();
    if (status.ok()) SetPause(status);
    MutexLock lock(mutex_);
    if (status.ok() || stopping_ || absl::IsNotFound(status) ||
        absl::IsFailedPrecondition(status)) {
      return status;
    }
    const std::string problem = absl::StrCat(
        "the state of the backup could not be recorded: ", status.message());
    spdlog::error("backup {}: {}; it is tried again", record.id, problem);
    pause_ = {lease::MakePause(status).reason, problem};
    Await(wait, /*heed_cancel=*/false);
  }
}

void BackupRunner::Await(absl::Duration& wait, bool heed_cancel) {
  const absl::Duration next = clock_.Monotonic() + wait;
  wait = std::min(2 * wait, kLongestWait);
  while (!stopping_ && !(heed_cancel && cancelled_) &&
         clock_.Monotonic() < next) {
    clock_.WaitUntil(mutex_, changed_, next);
  }
}

}  // namespace bimbackup::backup
