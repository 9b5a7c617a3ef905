// How a TransferRun ends: digests, commit, starting again, stopping.

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/digest.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/download_worker/engine/transfer_run.h"

namespace bimbackup::engine {

void TransferRun::Verify() {
  if (state_ != State::kVerifying) return;
  const absl::StatusOr<bool> more = blob_->CatchUp();
  if (!more.ok()) {
    FailByStorage(more.status());
  } else if (*more) {
    Post(&TransferRun::Verify);
  } else {
    CompareDigests();
  }
}

void TransferRun::CompareDigests() {
  const int64_t size = blob_->digested();
  const int64_t expected = parts_.back().end.value_or(size);
  const int64_t whole = blob_->size().value_or(expected);
  if (size != whole) {
    Restart(absl::StrCat(size, " of ", whole, " bytes came"),
            Outcome::kCorrupt);
    return;
  }
  const DigestFrontier::Digests digests = blob_->FinishDigests();
  if (!options_.digests) {
    Commit(Sha256Hex(task_.storage_urn), size);
  } else if (!source_.sha1.empty() && digests.sha1 != source_.sha1) {
    Restart(absl::StrCat("its SHA-1 is ", digests.sha1, " instead of ",
                         source_.sha1),
            Outcome::kCorrupt);
  } else if (!task_.sha256.empty() && digests.sha256 != task_.sha256) {
    Restart(absl::StrCat("its SHA-256 is ", digests.sha256, " instead of ",
                         task_.sha256),
            Outcome::kCorrupt);
  } else {
    Commit(digests.sha256, size);
  }
}

void TransferRun::Commit(const std::string& sha256, int64_t size) {
  state_ = State::kCommitting;
  report_.sha256 = sha256;
  report_.size = size;
  size_ = size;
  MaybeCrash("worker.before_commit");
  host_.OnCommitting(handle_);
  blob_->writer().Commit(
      sha256, size, [self = shared_from_this()](const absl::Status& status) {
        self->strand_.Post([self, status] { self->AfterCommit(status); });
      });
}

void TransferRun::AfterCommit(const absl::Status& status) {
  MaybeCrash("worker.after_commit");
  if (status.ok()) {
    report_.outcome = Outcome::kStored;
  } else {
    report_.outcome = StorageOutcome(status);
    report_.message = absl::StrCat(status.message());
  }
  if (report_.outcome == Outcome::kCorrupt) {
    DiscardAndEnd();
  } else {
    NoteRoomNeeded();
    End();
  }
}

void TransferRun::FailByStorage(const absl::Status& error) {
  const Outcome outcome = StorageOutcome(error);
  if (outcome == Outcome::kCorrupt) {
    // Bytes that were written are not there any more.
    Restart(error.message(), outcome);
  } else {
    Fail(outcome, error.message());
  }
}

void TransferRun::NoteRoomNeeded() {
  if (report_.outcome != Outcome::kStorageClosed || size_ < 0) return;
  report_.room_needed = size_;
  if (blob_ == nullptr || !blob_->journaled()) return;
  // What is recorded stays where it is for the next attempt.
  report_.room_needed = 0;
  for (const Part& part : parts_) {
    report_.room_needed += part.end.value_or(size_) - part.recorded;
  }
}

void TransferRun::Restart(absl::string_view why, Outcome outcome) {
  if (restarts_ >= options_.restarts) {
    report_.outcome = outcome;
    report_.message = absl::StrCat(why, ", from zero too");
    Stop(&TransferRun::DiscardAndEnd);
    return;
  }
  ++restarts_;
  spdlog::info("transfer {} starts again from zero: {}", task_.transfer_id,
               why);
  Stop(&TransferRun::FetchAgain);
}

void TransferRun::FetchAgain() {
  // The size comes from the next answer where the signing told none.
  source_.size = signed_size_;
  const absl::Status reset = blob_->Reset(source_);
  if (!reset.ok()) {
    FailByStorage(reset);
    return;
  }
  bytes_done_ = 0;
  adopted_ = false;
  resuming_ = false;
  PartSizes sizes = options_.parts;
  if (whole_only_) sizes.split_from = std::numeric_limits<int64_t>::max();
  parts_ = PlanParts(source_, {}, sizes);
  single_ = IsSingle();
  state_ = State::kFetching;
  UpdateWanted();
}

void TransferRun::Stop(void (TransferRun::*then)()) {
  state_ = State::kStopping;
  after_stop_ = then;
  host_.SetWanted(handle_, 0);
  for (const auto& [key, running] : running_) {
    deps_.transport.Cancel(running.id);
  }
  if (running_.empty()) (this->*after_stop_)();
}

void TransferRun::Fail(Outcome outcome, absl::string_view message) {
  if (state_ == State::kEnded || state_ == State::kCommitting) return;
  // A stop under way ends as it began, but a release overtakes a restart.
  if (state_ == State::kStopping && after_stop_ != &TransferRun::FetchAgain) {
    return;
  }
  report_.outcome = outcome;
  report_.message = std::string(message.data(), message.size());
  NoteRoomNeeded();
  const bool storage =
      outcome == Outcome::kStorageFailed || outcome == Outcome::kStorageClosed;
  Stop(storage ? &TransferRun::End : &TransferRun::RecordAndEnd);
}

void TransferRun::RecordAndEnd() {
  for (Part& part : parts_) {
    const bool worth =
        part.position - part.recorded >= options_.worthwhile_bytes;
    if (blob_ == nullptr || !worth) continue;
    const absl::Status recorded = RecordDone(part);
    if (!recorded.ok()) {
      spdlog::debug("transfer {}: {}", task_.transfer_id, recorded);
      break;
    }
  }
  End();
}

void TransferRun::DiscardAndEnd() {
  // Nothing of it may be taken up by a later attempt.
  const absl::Status discarded = blob_->Reset(source_);
  if (!discarded.ok()) {
    spdlog::warn("transfer {}: cannot discard its bytes: {}", task_.transfer_id,
                 discarded);
  }
  End();
}

void TransferRun::End() {
  state_ = State::kEnded;
  // Lets a successor have the file before it can hear of the end.
  blob_.reset();
  strand_.Close();
  host_.OnEnded(handle_, report_);
}

}  // namespace bimbackup::engine
