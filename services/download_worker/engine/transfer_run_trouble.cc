// How a TransferRun meets what goes wrong: retries, the watchdog, URLs that
// must be signed again.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/download_worker/engine/transfer_run.h"

namespace bimbackup::engine {
namespace {

constexpr absl::Duration kShortestLife = absl::Seconds(1);

}  // namespace

void TransferRun::HandleFailure(size_t index, int generation,
                                const PartResult& result) {
  Part& part = parts_[index];
  const PartFailure failure = ClassifyPart(result);
  spdlog::debug("transfer {}: bytes from {} stopped at {}: {}",
                task_.transfer_id, part.begin, part.position, result.status);
  switch (failure.action) {
    case FailureAction::kSignAgain:
      if (generation < generation_) {
        RetryLater(part, result, failure.outcome);
      } else if (!signing_ && ++refusals_ > 1) {
        Fail(failure.outcome,
             absl::StrCat(result.status.message(), ", signed again too"));
      } else {
        SignAgain();
      }
      return;
    case FailureAction::kRestartWhole:
      if (whole_only_) {
        Restart(result.status.message(), failure.outcome);
      } else {
        whole_only_ = true;
        Stop(&TransferRun::FetchAgain);
      }
      return;
    case FailureAction::kRestart:
      Restart(result.status.message(), failure.outcome);
      return;
    case FailureAction::kStorage:
    case FailureAction::kFail:
      Fail(failure.outcome, result.status.message());
      return;
    case FailureAction::kRetry:
      RetryLater(part, result, failure.outcome);
      return;
  }
}

void TransferRun::RetryLater(Part& part, const PartResult& result,
                             Outcome outcome) {
  if (++part.failures >= options_.backoff.max_attempts) {
    Fail(outcome, absl::StrCat(result.status.message(), " (", part.failures,
                               " attempts)"));
    return;
  }
  if (whole_only_ && part.position > part.begin) {
    Restart(result.status.message(), outcome);
    return;
  }
  absl::Duration wait = options_.backoff.Delay(part.failures, deps_.random);
  if (result.retry_after.has_value()) {
    wait = std::max(wait, *result.retry_after);
  }
  part.not_before = Now() + wait;
  strand_.PostAt(part.not_before,
                 [self = shared_from_this()] { self->UpdateWanted(); });
  UpdateWanted();
}

// What passed under another cap says nothing about a request under this one,
// so every clock starts again. The transport's own limits need no change: they
// leave out the time in which a cap holds a request back.
void TransferRun::FollowPace() {
  if (cap_ == host_.pace().cap()) return;
  cap_ = host_.pace().cap();
  const absl::Duration now = Now();
  deadline_ = std::max(deadline_, DeadlineFrom(now));
  for (auto& [key, running] : running_) {
    const std::optional<int64_t> end = parts_[running.part].end;
    const absl::Duration time =
        end.has_value() ? RequestTime(*end - running.begin) : deadline_ - now;
    running.deadline = now + time + host_.pace().watchdog_grace();
    running.seen_at = now;
  }
}

void TransferRun::CheckRunning() {
  FollowPace();
  if (state_ == State::kFetching && Now() > deadline_) {
    Fail(Outcome::kRetryable, "the file took longer than its deadline");
  }
  if (state_ == State::kFetching) RecordProgress();
  std::vector<std::pair<uint64_t, absl::string_view>> stuck;
  for (auto& [key, running] : running_) {
    const int64_t position = running.line->position();
    if (position != running.seen_position) {
      running.seen_position = position;
      running.seen_at = Now();
    }
    const absl::Duration still = Now() - running.seen_at;
    if (Now() > running.deadline) {
      stuck.emplace_back(key, "the request outlived its deadline");
    } else if (still > options_.idle_limit + host_.pace().watchdog_grace()) {
      stuck.emplace_back(key, "the request does not move");
    }
  }
  for (const auto& [key, why] : stuck) AbandonRequest(key, why);
  // Others may have left slots since.
  if (state_ == State::kFetching) UpdateWanted();
}

void TransferRun::AbandonRequest(uint64_t key, absl::string_view why) {
  const auto it = running_.find(key);
  if (it == running_.end()) return;
  spdlog::warn("transfer {}: {}", task_.transfer_id, why);
  it->second.line->Abandon();
  deps_.transport.Cancel(it->second.id);
  const int64_t position =
      std::max(it->second.begin, it->second.line->position());
  HandleDone(key, {.end = PartEnd::kTransport,
                   .status = absl::DeadlineExceededError(why),
                   .position = position,
                   .bytes_received = position - it->second.begin});
}

void TransferRun::SignAgain() {
  if (signing_ || state_ != State::kFetching) return;
  if (task_.transfer_id == 0) {
    Fail(Outcome::kRefused, "the URL was refused");
    return;
  }
  if (generation_ >= options_.signatures) {
    Fail(Outcome::kRefused, "its URLs expire before its bytes come");
    return;
  }
  signing_ = true;
  host_.SetWanted(handle_, 0);
  deps_.resolver.Resolve(task_, [self = shared_from_this(), strand = strand_](
                                    absl::StatusOr<Source> source) mutable {
    strand.Post([self, source = std::move(source)]() mutable {
      self->AfterSigning(std::move(source));
    });
  });
}

void TransferRun::AfterSigning(absl::StatusOr<Source> source) {
  signing_ = false;
  if (state_ != State::kFetching) return;
  if (!source.ok()) {
    AfterFailedSigning(source.status());
    return;
  }
  const absl::Status good = CheckSource(*source);
  const std::optional<int64_t> size = SourceSize(*source);
  if (!good.ok()) {
    Fail(Outcome::kInvalid, good.message());
    return;
  }
  const std::optional<int64_t> known = SourceSize(source_);
  const std::string sha1 = source_.sha1;
  source_ = *std::move(source);
  signed_size_ = size;
  if (source_.sha1.empty()) source_.sha1 = sha1;
  // However short its life, a fresh signature is tried.
  source_.valid_until = std::max(source_.valid_until, Now() + kShortestLife);
  ++generation_;
  failed_signings_ = 0;
  if (known.has_value() && size.has_value() && *known != *size) {
    Restart("its size changed with its signature", Outcome::kCorrupt);
    return;
  }
  source_.size = size.has_value() ? size : known;
  blob_->SetSource(source_);
  UpdateWanted();
}

void TransferRun::AfterFailedSigning(const absl::Status& status) {
  const std::string message =
      absl::StrCat("cannot be signed again: ", status.message());
  if (absl::IsFailedPrecondition(status)) {
    Fail(Outcome::kReleased, message);
  } else if (absl::IsNotFound(status)) {
    Fail(Outcome::kNotFound, message);
  } else if (absl::IsResourceExhausted(status) ||
             absl::IsPermissionDenied(status)) {
    Fail(Outcome::kRefused, message);
  } else if (absl::IsInvalidArgument(status) || absl::IsDataLoss(status)) {
    // An answer that makes no sense was asked for twice already.
    Fail(Outcome::kInvalid, message);
  } else if (!absl::IsDeadlineExceeded(status) &&
             ++failed_signings_ >= options_.backoff.max_attempts) {
    Fail(Outcome::kRetryable, message);
  } else {
    // An answer that takes long is waited for until the file's deadline: the
    // coordinator waits for its turn, a pause that Autodesk asked for, or both.
    const absl::Duration wait =
        options_.backoff.Delay(std::max(1, failed_signings_), deps_.random);
    strand_.PostAt(Now() + wait,
                   [self = shared_from_this()] { self->SignAgain(); });
  }
}

}  // namespace bimbackup::engine
