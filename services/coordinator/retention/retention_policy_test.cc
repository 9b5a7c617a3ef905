#include "services/coordinator/retention/retention_policy.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::retention {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

absl::Time At(const std::string& text) {
  absl::Time time;
  std::string error;
  const bool parsed = absl::ParseTime(
      text.size() > 10 ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d", text, &time, &error);
  EXPECT_TRUE(parsed) << text << ": " << error;
  return time;
}

const absl::Time kNow = At("2030-01-01");

// "daily=7,monthly=2": a policy of these rules; "years" to "hours" are those
// of `within`.
RetentionPolicy Rules(const std::string& text) {
  RetentionPolicy policy;
  const std::map<std::string, int*> fields = {{"last", &policy.last},
                                              {"daily", &policy.daily},
                                              {"weekly", &policy.weekly},
                                              {"monthly", &policy.monthly},
                                              {"yearly", &policy.yearly},
                                              {"years", &policy.within.years},
                                              {"months", &policy.within.months},
                                              {"days", &policy.within.days},
                                              {"hours", &policy.within.hours}};
  for (const absl::string_view rule : absl::StrSplit(text, ',')) {
    const std::vector<std::string> parts = absl::StrSplit(rule, '=');
    EXPECT_TRUE(absl::SimpleAtoi(parts[1], fields.at(parts[0])));
  }
  return policy;
}

struct Case {
  const char* name;
  RetentionPolicy policy;
  // Newest first.
  std::vector<std::string> times;
  // "time: reasons" of what is kept, in their order.
  std::vector<std::string> kept;
};

std::vector<std::string> Describe(const Case& test) {
  std::vector<absl::Time> times;
  for (const std::string& time : test.times) times.push_back(At(time));
  EXPECT_TRUE(std::is_sorted(times.rbegin(), times.rend())) << test.name;
  const auto kept = ApplyPolicy(test.policy, times, kNow);
  std::vector<std::string> described;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].empty()) continue;
    described.push_back(
        absl::StrCat(test.times[i], ": ", absl::StrJoin(kept[i], ", ")));
  }
  return described;
}

// restic's manual: "one backup every Sunday for 12 weeks".
const std::vector<std::string> kSundays = {
    "2019-11-17 11:00:00", "2019-11-10 11:00:00", "2019-11-03 11:00:00",
    "2019-10-27 11:00:00", "2019-10-20 11:00:00", "2019-10-13 11:00:00",
    "2019-10-06 11:00:00", "2019-09-29 11:00:00", "2019-09-22 11:00:00",
    "2019-09-15 11:00:00", "2019-09-08 11:00:00", "2019-09-01 11:00:00"};

std::vector<Case> Cases() {
  return {
      {"no snapshot", Rules("last=3"), {}, {}},
      {"no rule keeps nothing", RetentionPolicy(), {"2020-01-02"}, {}},
      {"the newest n",
       Rules("last=2"),
       {"2020-01-03", "2020-01-02", "2020-01-01"},
       {"2020-01-03: last", "2020-01-02: last"}},
      {"restic's Sundays, four daily ones",
       Rules("daily=4"),
       kSundays,
       {"2019-11-17 11:00:00: daily", "2019-11-10 11:00:00: daily",
        "2019-11-03 11:00:00: daily", "2019-10-27 11:00:00: daily"}},
      {"the newest of several a day",
       Rules("daily=2"),
       {"2020-01-02 23:59:59", "2020-01-02 00:00:00", "2020-01-01 23:59:59",
        "2020-01-01 12:00:00", "2019-12-31"},
       {"2020-01-02 23:59:59: daily", "2020-01-01 23:59:59: daily"}},
      {"restic's forum: days without a snapshot do not count",
       Rules("daily=4"),
       {"2023-05-05 10:00:00", "2023-05-04 09:00:00", "2023-05-02 11:00:00",
        "2023-05-02 08:00:00", "2023-05-01 08:00:00"},
       {"2023-05-05 10:00:00: daily", "2023-05-04 09:00:00: daily",
        "2023-05-02 11:00:00: daily", "2023-05-01 08:00:00: daily"}},
      {"restic's forum: the oldest stays while a rule has counts left",
       Rules("monthly=4"),
       {"2024-01-04 20:20:32", "2024-01-04 20:09:54", "2024-01-03 01:04:38",
        "2024-01-02 13:42:44"},
       {"2024-01-04 20:20:32: monthly", "2024-01-02 13:42:44: oldest monthly"}},
      {"the oldest of a rule without counts left goes",
       Rules("yearly=1"),
       {"2024-03-01", "2024-02-01", "2023-01-01"},
       {"2024-03-01: yearly"}},
      {"ISO weeks begin on Monday and span the year's end",
       Rules("weekly=2"),
       // 2020-12-28 is the Monday of week 53, which ends on 2021-01-03.
       {"2021-01-04", "2021-01-03", "2021-01-01", "2020-12-28", "2020-12-27"},
       {"2021-01-04: weekly", "2021-01-03: weekly"}},
      {"weeks of one number in two years are two weeks",
       Rules("weekly=2"),
       {"2021-02-01", "2020-02-01", "2019-02-01"},
       {"2021-02-01: weekly", "2020-02-01: weekly"}},
      {"months and years at the year's end",
       Rules("monthly=2,yearly=2"),
       {"2021-01-01 00:00:00", "2020-12-31 23:59:59", "2020-12-31 23:00:00",
        "2020-11-30 12:00:00", "2019-12-31 12:00:00"},
       {"2021-01-01 00:00:00: monthly, yearly",
        "2020-12-31 23:59:59: monthly, yearly"}},
      {"one snapshot may serve many rules",
       Rules("last=1,daily=1,weekly=1,monthly=1,yearly=1"),
       {"2020-01-02", "2020-01-01"},
       {"2020-01-02: last, daily, weekly, monthly, yearly"}},
      {"within is measured from the newest, and its end is outside",
       Rules("days=2"),
       {"2020-01-10 12:00:00", "2020-01-08 12:00:01", "2020-01-08 12:00:00"},
       {"2020-01-10 12:00:00: within", "2020-01-08 12:00:01: within"}},
      {"within counts months as the calendar does",
       Rules("months=1"),
       {"2021-03-31", "2021-03-04", "2021-03-03", "2021-03-02"},
       // 31 February is 3 March.
       {"2021-03-31: within", "2021-03-04: within"}},
      {"within adds all of its units",
       Rules("years=1,months=6,days=10,hours=12"),
       {"2021-07-11 12:00:00", "2020-01-01 00:00:01", "2020-01-01 00:00:00"},
       {"2021-07-11 12:00:00: within", "2020-01-01 00:00:01: within"}},
      {"a time in the future is no measure, and is kept",
       Rules("hours=1"),
       {"2031-01-01", "2020-01-02", "2020-01-01"},
       {"2031-01-01: within", "2020-01-02: within"}},
  };
}

TEST(ApplyPolicyTest, KeepsWhatResticKeeps) {
  for (const Case& test : Cases()) {
    EXPECT_EQ(Describe(test), test.kept) << test.name;
  }
}

// restic's manual: daily backups for 100 years.
TEST(ApplyPolicyTest, AHundredYearsOfDailyBackups) {
  std::vector<absl::Time> times;
  const absl::CivilDay last(2019, 11, 17);
  for (int day = 0; day < 36500; ++day) {
    times.push_back(absl::FromCivil(last - day, absl::UTCTimeZone()));
  }
  const RetentionPolicy policy = Rules("daily=7,weekly=5,monthly=12,yearly=75");
  const auto kept = ApplyPolicy(policy, times, kNow);
  int count = 0;
  for (const auto& reasons : kept) count += reasons.empty() ? 0 : 1;
  // 7 days; 4 more weeks, because one of 5 Sundays is among the days; 12 months
  // but the newest, which is such a day; 75 years but the newest, and none of
  // the 74 others is a month's that is kept but 2018's.
  EXPECT_EQ(count, 7 + 4 + 11 + 73);
}

TEST(ParseSpanTest, ReadsResticsSpans) {
  EXPECT_THAT(ParseSpan("1y6m10d12h"),
              IsOkAndHolds(CalendarSpan{1, 6, 10, 12}));
  EXPECT_THAT(ParseSpan("12h2y"), IsOkAndHolds(CalendarSpan{2, 0, 0, 12}));
  EXPECT_THAT(ParseSpan(""), IsOkAndHolds(CalendarSpan()));
}

TEST(ParseSpanTest, RefusesAnythingElse) {
  for (const char* text : {"7", "d", "1w", "-1d", "1.5d", "1d ", "1d2d", "1D",
                           "99999999999d", "100001y"}) {
    EXPECT_THAT(ParseSpan(text), StatusIs(absl::StatusCode::kInvalidArgument))
        << text;
  }
}

}  // namespace
}  // namespace bimbackup::retention
