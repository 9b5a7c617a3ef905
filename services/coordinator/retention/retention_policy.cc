#include "services/coordinator/retention/retention_policy.h"

#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"

namespace bimbackup::retention {
namespace {

// Larger numbers of years and hours leave what civil times can say.
constexpr int kMaxNumber = 100'000;

// The first day of the period that holds `day` names the period.
using PeriodOf = absl::CivilDay (*)(absl::CivilDay day);

absl::CivilDay DayOf(absl::CivilDay day) { return day; }
absl::CivilDay WeekOf(absl::CivilDay day) {
  return absl::PrevWeekday(day + 1, absl::Weekday::monday);
}
absl::CivilDay MonthOf(absl::CivilDay day) {
  return absl::CivilDay(absl::CivilMonth(day));
}
absl::CivilDay YearOf(absl::CivilDay day) {
  return absl::CivilDay(absl::CivilYear(day));
}

// One rule that counts periods, as it goes through the times.
struct PeriodRule {
  const char* name;
  int left;
  PeriodOf period_of;
  std::optional<absl::CivilDay> period;

  bool Keeps(absl::CivilDay day) {
    const absl::CivilDay found = period_of(day);
    if (left == 0 || period == found) return false;
    period = found;
    --left;
    return true;
  }
};

// The newest time that is not after `now`.
absl::Time FindLatest(const std::vector<absl::Time>& newest_first,
                      absl::Time now) {
  for (const absl::Time time : newest_first) {
    if (time <= now) return time;
  }
  return absl::InfinitePast();
}

absl::Time Before(absl::Time time, const CalendarSpan& span) {
  if (time == absl::InfinitePast()) return time;
  const absl::CivilSecond c = absl::ToCivilSecond(time, absl::UTCTimeZone());
  const absl::CivilSecond earlier(
      c.year() - span.years, c.month() - span.months, c.day() - span.days,
      c.hour() - span.hours, c.minute(), c.second());
  return absl::FromCivil(earlier, absl::UTCTimeZone()) +
         (time - absl::FromCivil(c, absl::UTCTimeZone()));
}

int* UnitOf(CalendarSpan& span, char unit) {
  switch (unit) {
    case 'y':
      return &span.years;
    case 'm':
      return &span.months;
    case 'd':
      return &span.days;
    case 'h':
      return &span.hours;
    default:
      return nullptr;
  }
}

absl::Status BadSpan(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no span of time such as 1y6m10d12h"));
}

}  // namespace

absl::StatusOr<CalendarSpan> ParseSpan(absl::string_view text) {
  CalendarSpan span;
  std::string seen;
  absl::string_view rest = text;
  while (!rest.empty()) {
    size_t digits = 0;
    while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
    int number = 0;
    if (digits == 0 || digits == rest.size() ||
        !absl::SimpleAtoi(rest.substr(0, digits), &number) ||
        number > kMaxNumber) {
      return BadSpan(text);
    }
    const char unit = rest[digits];
    int* const field = UnitOf(span, unit);
    if (field == nullptr || seen.find(unit) != std::string::npos) {
      return BadSpan(text);
    }
    *field = number;
    seen += unit;
    rest.remove_prefix(digits + 1);
  }
  return span;
}

std::vector<std::vector<std::string>> ApplyPolicy(
    const RetentionPolicy& policy, const std::vector<absl::Time>& newest_first,
    absl::Time now) {
  PeriodRule rules[] = {{"daily", policy.daily, DayOf, std::nullopt},
                        {"weekly", policy.weekly, WeekOf, std::nullopt},
                        {"monthly", policy.monthly, MonthOf, std::nullopt},
                        {"yearly", policy.yearly, YearOf, std::nullopt}};
  const absl::Time since = Before(FindLatest(newest_first, now), policy.within);
  std::vector<std::vector<std::string>> kept(newest_first.size());
  for (size_t i = 0; i < newest_first.size(); ++i) {
    const absl::CivilDay day =
        absl::ToCivilDay(newest_first[i], absl::UTCTimeZone());
    if (static_cast<int64_t>(i) < policy.last) kept[i].push_back("last");
    for (PeriodRule& rule : rules) {
      if (rule.Keeps(day)) {
        kept[i].push_back(rule.name);
      } else if (rule.left > 0 && i + 1 == newest_first.size()) {
        kept[i].push_back(absl::StrCat("oldest ", rule.name));
      }
    }
    if (!policy.within.empty() && newest_first[i] > since) {
      kept[i].push_back("within");
    }
  }
  return kept;
}

}  // namespace bimbackup::retention
