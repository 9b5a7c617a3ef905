// Fuzzes the reading of signed answers: what is accepted covers the object
// without gap or overlap, and every URL can be fetched.

#include "clients/bim360/answers.h"
#include "clients/http/http_transport.h"
#include "services/common/fuzzing.h"

namespace bimbackup::bim360 {
namespace {

void RequireCover(const SignedDownload& download) {
  int64_t next = 0;
  for (const SignedRange& range : download.ranges) {
    FUZZ_REQUIRE(range.first == next);
    next = range.last + 1;
    FUZZ_REQUIRE(range.url.size() <= kMaxUrlBytes);
    FUZZ_REQUIRE(http::ParseUrl(range.url).ok());
    if (download.ranges.size() > 1) FUZZ_REQUIRE(range.last >= range.first);
  }
  FUZZ_REQUIRE(next == download.size.value_or(0));
}

}  // namespace

void FuzzOne(absl::string_view json) {
  const auto download = ParseSignedDownload(json);
  if (!download.ok()) {
    FUZZ_REQUIRE(absl::IsDataLoss(download.status()));
    FUZZ_REQUIRE(IsOneLine(download.status().message()));
    return;
  }
  FUZZ_REQUIRE(!download->ranges.empty());
  FUZZ_REQUIRE(download->ranges.size() <= kMaxSignedRanges);
  FUZZ_REQUIRE(!download->size || *download->size >= 0);
  RequireCover(*download);
  FUZZ_REQUIRE(download->sha1.empty() || download->sha1.size() == 40);
  for (const char c : download->sha1) {
    FUZZ_REQUIRE((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }
}

}  // namespace bimbackup::bim360

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::bim360::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
