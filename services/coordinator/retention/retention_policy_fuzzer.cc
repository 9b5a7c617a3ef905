// Fuzzes spans and what policies keep. An input is a span, then a line whose
// bytes are the numbers of a policy, then one whose bytes are the hours from
// each snapshot to the one before it.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/common/fuzzing.h"
#include "services/coordinator/retention/retention_policy.h"

namespace bimbackup::retention {
namespace {

void CheckSpan(absl::string_view text) {
  const auto span = ParseSpan(text);
  if (!span.ok()) {
    FUZZ_REQUIRE(absl::IsInvalidArgument(span.status()));
    return;
  }
  for (const int number :
       {span->years, span->months, span->days, span->hours}) {
    FUZZ_REQUIRE(number >= 0);
  }
  const auto again = ParseSpan(absl::StrCat(span->years, "y", span->months, "m",
                                            span->days, "d", span->hours, "h"));
  FUZZ_REQUIRE(again.ok());
  FUZZ_REQUIRE(*again == *span);
}

int NumberAt(absl::string_view bytes, size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) % 16 : 0;
}

void CheckPolicy(absl::string_view span, absl::string_view numbers,
                 absl::string_view hours) {
  RetentionPolicy policy;
  policy.last = NumberAt(numbers, 0);
  policy.daily = NumberAt(numbers, 1);
  policy.weekly = NumberAt(numbers, 2);
  policy.monthly = NumberAt(numbers, 3);
  policy.yearly = NumberAt(numbers, 4);
  if (const auto within = ParseSpan(span); within.ok()) policy.within = *within;
  const absl::Time now = absl::FromUnixSeconds(1'769'904'000);
  std::vector<absl::Time> times;
  absl::Time time = now + absl::Hours(NumberAt(numbers, 5));
  for (const char c : hours) {
    time -= absl::Hours(static_cast<unsigned char>(c) * 7);
    times.push_back(time);
  }
  const auto kept = ApplyPolicy(policy, times, now);
  FUZZ_REQUIRE(kept.size() == times.size());
  if (times.empty()) return;
  // Some rule keeps the newest, unless there is none.
  FUZZ_REQUIRE(kept[0].empty() == policy.empty());
  for (size_t i = 0; i < kept.size(); ++i) {
    const bool is_last = std::count(kept[i].begin(), kept[i].end(), "last") > 0;
    FUZZ_REQUIRE(is_last == (i < static_cast<size_t>(policy.last)));
  }
}

}  // namespace

void FuzzOne(absl::string_view input) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(input, absl::MaxSplits('\n', 2));
  CheckSpan(lines[0]);
  if (lines.size() == 3) CheckPolicy(lines[0], lines[1], lines[2]);
}

}  // namespace bimbackup::retention

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::retention::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
