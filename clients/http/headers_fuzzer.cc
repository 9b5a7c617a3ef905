// Fuzzes the reading of Content-Range and Retry-After: what is accepted makes
// sense, and means the same when it is written again.

#include <string>

#include "absl/strings/str_cat.h"
#include "clients/http/http_transport.h"
#include "services/common/fuzzing.h"

namespace bimbackup::http {
namespace {

void CheckContentRange(absl::string_view value) {
  const auto range = ParseContentRange(value);
  if (!range) return;
  FUZZ_REQUIRE(range->first >= 0);
  FUZZ_REQUIRE(range->last >= range->first);
  FUZZ_REQUIRE(!range->total || *range->total > range->last);
  const auto again = ParseContentRange(absl::StrCat(
      "bytes ", range->first, "-", range->last, "/",
      range->total ? absl::StrCat(*range->total) : std::string("*")));
  FUZZ_REQUIRE(again.has_value());
  FUZZ_REQUIRE(again->first == range->first);
  FUZZ_REQUIRE(again->last == range->last);
  FUZZ_REQUIRE(again->total == range->total);
}

void CheckRetryAfter(absl::string_view value) {
  const absl::Time now = absl::FromUnixSeconds(1'769'904'000);
  const auto wait = ParseRetryAfter(value, now);
  if (!wait) return;
  FUZZ_REQUIRE(*wait >= absl::Seconds(1));
  FUZZ_REQUIRE(*wait <= absl::Seconds(600));
}

}  // namespace

void FuzzOne(absl::string_view value) {
  CheckContentRange(value);
  CheckRetryAfter(value);
}

}  // namespace bimbackup::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::http::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
