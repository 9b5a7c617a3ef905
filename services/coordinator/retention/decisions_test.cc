#include "services/coordinator/retention/decisions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::retention {
namespace {

using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// Snapshots "s5" to "s1", a day apart, newest first.
std::vector<SnapshotRow> FiveDays() {
  std::vector<SnapshotRow> rows;
  for (int day = 5; day > 0; --day) {
    SnapshotRow& row = rows.emplace_back();
    row.head.id = absl::StrCat("s", day);
    row.head.start_time = kNow - absl::Hours(24 * (7 - day));
  }
  return rows;
}

std::vector<std::string> Describe(
    const absl::StatusOr<std::vector<Decision>>& decisions) {
  EXPECT_OK(decisions);
  std::vector<std::string> lines;
  if (!decisions.ok()) return lines;
  for (const Decision& decision : *decisions) {
    lines.push_back(absl::StrCat(decision.row.head.id,
                                 decision.kept ? " stays: " : " goes",
                                 absl::StrJoin(decision.reasons, ", ")));
  }
  return lines;
}

TEST(DecideTest, ThePolicyAndTheFactsKeep) {
  std::vector<SnapshotRow> rows = FiveDays();
  rows[2].is_protected = true;
  rows[3].holds_guarded = true;
  ForgetRequest request;
  request.policy.last = 2;
  EXPECT_THAT(
      Describe(Decide(rows, request, kNow)),
      ElementsAre("s5 stays: newest, last", "s4 stays: last",
                  "s3 stays: protected", "s2 stays: guarded", "s1 goes"));
}

TEST(DecideTest, TheNewestStaysWhateverThePolicySays) {
  ForgetRequest request;
  request.policy.within.hours = 1;
  std::vector<SnapshotRow> rows = FiveDays();
  rows[0].head.start_time = kNow + absl::Hours(24);
  EXPECT_EQ(Describe(Decide(rows, request, kNow))[0],
            "s5 stays: newest, within");
  request.policy = RetentionPolicy();
  request.policy.yearly = 1;
  EXPECT_THAT(Describe(Decide(FiveDays(), request, kNow)),
              ElementsAre("s5 stays: newest, yearly", "s4 goes", "s3 goes",
                          "s2 goes", "s1 goes"));
}

TEST(DecideTest, NamedOnesGo) {
  ForgetRequest request;
  request.ids = {"s2", "s4"};
  EXPECT_THAT(
      Describe(Decide(FiveDays(), request, kNow)),
      ElementsAre("s5 stays: newest, not named", "s4 goes",
                  "s3 stays: not named", "s2 goes", "s1 stays: not named"));
}

TEST(DecideTest, NamesThatMustStayAreRefused) {
  std::vector<SnapshotRow> rows = FiveDays();
  rows[1].is_protected = true;
  rows[2].holds_guarded = true;
  for (const char* id : {"s5", "s4", "s3"}) {
    ForgetRequest request;
    request.ids = {"s1", id};
    EXPECT_THAT(Decide(rows, request, kNow),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr(absl::StrCat("snapshots/", id))));
  }
  ForgetRequest unknown;
  unknown.ids = {"s1", "s9"};
  EXPECT_THAT(Decide(rows, unknown, kNow),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("s9")));
}

TEST(DecideTest, ATornOneGoesOnlyByItsName) {
  std::vector<SnapshotRow> rows = FiveDays();
  rows[0].problem = "torn";
  ForgetRequest request;
  request.policy.last = 1;
  // It is neither the newest nor one of the last.
  EXPECT_THAT(Describe(Decide(rows, request, kNow)),
              ElementsAre("s5 stays: unreadable", "s4 stays: newest, last",
                          "s3 goes", "s2 goes", "s1 goes"));
  request.policy = {};
  request.ids = {"s5"};
  EXPECT_EQ(Describe(Decide(rows, request, kNow))[0], "s5 goes");
}

TEST(DecideTest, SweepingForgetsNone) {
  ForgetRequest request;
  request.sweep_only = true;
  const auto decisions = Decide(FiveDays(), request, kNow);
  ASSERT_TRUE(decisions.ok());
  for (const Decision& decision : *decisions) {
    EXPECT_TRUE(decision.kept);
  }
  EXPECT_THAT(Describe(Decide({}, request, kNow)), ElementsAre());
}

TEST(CheckRequestTest, TakesJustOneOfPolicyNamesAndSweep) {
  ForgetRequest policy;
  policy.policy.daily = 1;
  ForgetRequest names;
  names.ids = {"s1"};
  ForgetRequest sweep;
  sweep.sweep_only = true;
  for (const ForgetRequest& good : {policy, names, sweep}) {
    EXPECT_OK(CheckRequest(good));
  }
  ForgetRequest both = policy;
  both.ids = {"s1"};
  ForgetRequest names_and_sweep = names;
  names_and_sweep.sweep_only = true;
  ForgetRequest negative = policy;
  negative.policy.last = -1;
  for (const ForgetRequest& bad :
       {ForgetRequest(), both, names_and_sweep, negative}) {
    EXPECT_THAT(CheckRequest(bad),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace bimbackup::retention
