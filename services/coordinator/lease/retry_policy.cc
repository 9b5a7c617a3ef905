#include "services/coordinator/lease/retry_policy.h"

#include "services/common/backoff.h"

namespace bimbackup::lease {
namespace {

// An object that is listed but not found may turn up a little later.
constexpr absl::Duration kNotFoundDelay = absl::Seconds(3);

// Its worker takes nothing more; others may be well.
constexpr absl::Duration kClosedDelay = absl::Seconds(1);

constexpr Backoff kBackoff = {.initial = absl::Milliseconds(500),
                              .maximum = absl::Seconds(30)};

}  // namespace

void Tally::Count(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRefused:
      ++refused;
      return;
    case Outcome::kNotFound:
      ++not_found;
      return;
    case Outcome::kCorrupt:
      ++corrupt;
      return;
    case Outcome::kReleased:
      ++releases;
      return;
    case Outcome::kStorageFailed:
      ++storage_failed;
      return;
    case Outcome::kStored:
    case Outcome::kStorageClosed:
      return;
    case Outcome::kUnspecified:
      ++losses;
      return;
    case Outcome::kRetryable:
    case Outcome::kInvalid:
      ++retryable;
      return;
  }
}

Verdict JudgeOutcome(Outcome outcome, const Tally& tally, Random& random) {
  switch (outcome) {
    case Outcome::kRefused:
      return {.retry = tally.refused < kMaxRefused, .sign_again = true};
    case Outcome::kNotFound:
      return {.retry = tally.not_found < kMaxNotFound,
              .delay = kNotFoundDelay,
              .sign_again = true};
    case Outcome::kCorrupt:
      return {.retry = tally.corrupt < kMaxCorrupt, .sign_again = true};
    case Outcome::kInvalid:
      return {.retry = false};
    case Outcome::kReleased:
      return {.retry = tally.releases < kMaxReleases};
    case Outcome::kUnspecified:
      return {.retry = tally.losses < kMaxLosses};
    case Outcome::kStored:
      return {.retry = true};
    case Outcome::kStorageClosed:
      return {.retry = true, .delay = kClosedDelay};
    case Outcome::kStorageFailed:
      return {.retry = tally.storage_failed < kMaxStorageFailed,
              .delay = kBackoff.Delay(tally.storage_failed, random)};
    case Outcome::kRetryable:
      return {.retry = tally.retryable < kMaxRetryable,
              .delay = kBackoff.Delay(tally.retryable, random)};
  }
  return {};
}

Outcome OutcomeOfSigning(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
      return Outcome::kInvalid;
    case absl::StatusCode::kNotFound:
      return Outcome::kNotFound;
    default:
      return Outcome::kRetryable;
  }
}

}  // namespace bimbackup::lease
