// Which snapshots a policy keeps: restic's rules over their times.

#ifndef SERVICES_COORDINATOR_RETENTION_RETENTION_POLICY_H_
#define SERVICES_COORDINATOR_RETENTION_RETENTION_POLICY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace bimbackup::retention {

// A span of the calendar: 1 month before 31 March is "31 February", which is
// 3 March, or 2 March in a leap year.
struct CalendarSpan {
  int years = 0;
  int months = 0;
  int days = 0;
  int hours = 0;

  bool operator==(const CalendarSpan&) const = default;
  bool empty() const { return *this == CalendarSpan(); }
};

// "1y6m10d12h", in any order, each unit at most once; empty for none.
// INVALID_ARGUMENT, saying why, for anything else.
absl::StatusOr<CalendarSpan> ParseSpan(absl::string_view text);

// How many a rule keeps; 0 for none.
struct RetentionPolicy {
  int last = 0;
  // The newest of each of so many days, ISO weeks, months, years that have a
  // snapshot at all.
  int daily = 0;
  int weekly = 0;
  int monthly = 0;
  int yearly = 0;
  // All that are younger than the newest one by less than this.
  CalendarSpan within;

  bool operator==(const RetentionPolicy&) const = default;
  // No rule: keeps nothing.
  bool empty() const { return *this == RetentionPolicy(); }
};

// Names of the rules that keep each of these times, which are sorted, newest
// first: "last", "daily", "weekly", "monthly", "yearly", "within"; empty for
// what no rule keeps. Where a rule has not found as many as it may keep, it
// keeps the oldest too, as "oldest daily" and so on, so that history is never
// cut shorter than it need be. Periods are those of UTC. Times after `now`
// are no measure for `within`, and are kept by it. Pure.
std::vector<std::vector<std::string>> ApplyPolicy(
    const RetentionPolicy& policy, const std::vector<absl::Time>& newest_first,
    absl::Time now);

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_RETENTION_POLICY_H_
