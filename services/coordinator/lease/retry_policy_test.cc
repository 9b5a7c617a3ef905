#include "services/coordinator/lease/retry_policy.h"

#include "gtest/gtest.h"

namespace bimbackup::lease {
namespace {

// How many endings of this kind a transfer survives, plus the last.
int AttemptsUntilFailure(Outcome outcome) {
  SeededRandom random(1);
  Tally tally;
  for (int attempt = 1; attempt <= 1000; ++attempt) {
    tally.Count(outcome);
    if (!JudgeOutcome(outcome, tally, random).retry) return attempt;
  }
  return -1;
}

TEST(RetryPolicyTest, BoundsEveryKindOfEnding) {
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kRetryable), kMaxRetryable);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kRefused), kMaxRefused);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kNotFound), kMaxNotFound);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kCorrupt), kMaxCorrupt);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kStorageFailed), kMaxStorageFailed);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kUnspecified), kMaxLosses);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kReleased), kMaxReleases);
  EXPECT_EQ(AttemptsUntilFailure(Outcome::kInvalid), 1);
}

TEST(RetryPolicyTest, UncountedFailureOfTheStorageIsNoAttempt) {
  SeededRandom random(1);
  EXPECT_TRUE(JudgeOutcome(Outcome::kStorageFailed, {}, random).retry);
}

TEST(RetryPolicyTest, CountsLossesApartFromAttempts) {
  SeededRandom random(1);
  Tally tally;
  for (int i = 0; i < kMaxLosses - 1; ++i) tally.Count(Outcome::kUnspecified);
  tally.Count(Outcome::kRetryable);
  EXPECT_TRUE(JudgeOutcome(Outcome::kRetryable, tally, random).retry);
}

TEST(RetryPolicyTest, SignsAgainWhatWasRefused) {
  SeededRandom random(1);
  Tally tally;
  tally.Count(Outcome::kRefused);
  EXPECT_TRUE(JudgeOutcome(Outcome::kRefused, tally, random).sign_again);
}

TEST(RetryPolicyTest, ClassesErrorsOfSigning) {
  EXPECT_EQ(OutcomeOfSigning(absl::PermissionDeniedError("")),
            Outcome::kInvalid);
  EXPECT_EQ(OutcomeOfSigning(absl::NotFoundError("")), Outcome::kNotFound);
  EXPECT_EQ(OutcomeOfSigning(absl::UnavailableError("")), Outcome::kRetryable);
}

}  // namespace
}  // namespace bimbackup::lease
