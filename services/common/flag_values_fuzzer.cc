// Fuzzes the values of flags: durations, sizes, shares.

#include <cmath>

#include "services/common/flags.h"
#include "services/common/fuzzing.h"

namespace bimbackup {

void FuzzOne(absl::string_view text) {
  const auto duration = ParseDurationFlag(text);
  if (duration.ok()) FUZZ_REQUIRE(*duration >= absl::ZeroDuration());
  const auto bytes = ParseBytesFlag(text);
  if (bytes.ok()) FUZZ_REQUIRE(*bytes >= 0);
  const auto share = ParseShareFlag(text);
  if (share.ok()) FUZZ_REQUIRE(*share > 0 && !std::isnan(*share));
  for (const absl::Status& status :
       {duration.status(), bytes.status(), share.status()}) {
    FUZZ_REQUIRE(status.ok() || absl::IsInvalidArgument(status));
    FUZZ_REQUIRE(status.message().size() < 400);
  }
}

}  // namespace bimbackup

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
