// Fuzzes snapshot files: what is accepted is written again as the same
// snapshot.

#include <string>

#include "clients/storage/format/snapshot_file.h"
#include "services/common/fuzzing.h"

namespace bimbackup::storage::format {

void FuzzOne(absl::string_view text) {
  const auto snapshot = ParseSnapshot(text);
  if (!snapshot.ok()) {
    FUZZ_REQUIRE(absl::IsDataLoss(snapshot.status()));
    return;
  }
  for (const SnapshotProject& project : snapshot->projects) {
    FUZZ_REQUIRE(project.counts.files >= 0);
    FUZZ_REQUIRE(project.counts.bytes >= 0);
  }
  const std::string written = FormatSnapshot(*snapshot);
  const auto again = ParseSnapshot(written);
  FUZZ_REQUIRE(again.ok());
  FUZZ_REQUIRE(again->id == snapshot->id);
  FUZZ_REQUIRE(again->end_time == snapshot->end_time);
  FUZZ_REQUIRE(again->projects.size() == snapshot->projects.size());
  FUZZ_REQUIRE(FormatSnapshot(*again) == written);
}

}  // namespace bimbackup::storage::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::storage::format::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
