// Fuzzes a manifest's lines: what is accepted is written again as the same
// entry, in one line.

#include <string>

#include "clients/storage/format/manifest.h"
#include "services/common/fuzzing.h"

namespace bimbackup::storage::format {

void FuzzOne(absl::string_view line) {
  const auto entry = ParseManifestLine(line);
  if (!entry.ok()) {
    FUZZ_REQUIRE(absl::IsDataLoss(entry.status()));
    return;
  }
  FUZZ_REQUIRE(!entry->project_id.empty());
  FUZZ_REQUIRE(!entry->stored_path.empty());
  FUZZ_REQUIRE(!entry->size || *entry->size >= 0);
  FUZZ_REQUIRE(entry->version_number >= 0);
  const std::string written = FormatManifestLine(*entry);
  FUZZ_REQUIRE(written.find('\n') == written.npos);
  const auto again = ParseManifestLine(written);
  FUZZ_REQUIRE(again.ok());
  FUZZ_REQUIRE(again->path == entry->path);
  FUZZ_REQUIRE(again->stored_path == entry->stored_path);
  FUZZ_REQUIRE(again->size == entry->size);
  FUZZ_REQUIRE(again->sha256 == entry->sha256);
  FUZZ_REQUIRE(again->last_modified == entry->last_modified);
  FUZZ_REQUIRE(FormatManifestLine(*again) == written);
  ManifestCounts counts;
  counts.Add(*entry);
  FUZZ_REQUIRE(counts.files + counts.folders == 1);
  FUZZ_REQUIRE(counts.bytes >= 0);
}

}  // namespace bimbackup::storage::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::storage::format::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
