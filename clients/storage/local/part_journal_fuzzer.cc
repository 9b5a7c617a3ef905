// Fuzzes the part journal: as it is on the disk, and, so that checks do not
// keep everything out, as lines that are sealed first and then torn.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "clients/storage/local/part_journal.h"
#include "services/common/fuzzing.h"

namespace bimbackup::storage::local {
namespace {

void RequireMerged(const std::vector<ByteRange>& ranges) {
  int64_t end = -1;
  for (const ByteRange& range : ranges) {
    FUZZ_REQUIRE(range.begin > end);
    FUZZ_REQUIRE(range.end > range.begin);
    end = range.end;
  }
}

bool Same(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ByteRange& x, const ByteRange& y) {
                      return x.begin == y.begin && x.end == y.end;
                    });
}

bool Covers(const std::vector<ByteRange>& ranges, const ByteRange& part) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& r) {
    return r.begin <= part.begin && part.end <= r.end;
  });
}

void CheckJournal(absl::string_view text) {
  const auto content = ParseJournal(text);
  if (!content) return;
  FUZZ_REQUIRE(content->valid_bytes <= text.size());
  FUZZ_REQUIRE(!content->identity.empty() || content->ranges.empty());
  RequireMerged(content->ranges);
  // Cut to what is whole, as it is when it is taken up, it says the same.
  const auto whole = ParseJournal(text.substr(0, content->valid_bytes));
  FUZZ_REQUIRE(whole.has_value());
  FUZZ_REQUIRE(whole->valid_bytes == content->valid_bytes);
  FUZZ_REQUIRE(whole->identity == content->identity);
  FUZZ_REQUIRE(Same(whole->ranges, content->ranges));
}

// However it is torn, a journal never claims more than it did whole.
void CheckTorn(absl::string_view input) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(input, '\n')) {
    text += SealLine(line);
  }
  CheckJournal(text);
  const auto whole = ParseJournal(text);
  if (!whole) return;
  const std::string torn = text.substr(0, text.size() * input.size() % 997);
  const auto content = ParseJournal(torn);
  FUZZ_REQUIRE(content.has_value());
  CheckJournal(torn);
  for (const ByteRange& range : content->ranges) {
    FUZZ_REQUIRE(Covers(whole->ranges, range));
  }
}

}  // namespace

void FuzzOne(absl::string_view input) {
  CheckJournal(input);
  CheckTorn(input);
}

}  // namespace bimbackup::storage::local

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::storage::local::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
