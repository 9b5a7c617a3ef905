#include "clients/storage/local/part_journal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/common/digest.h"

namespace bimbackup::storage::local {
namespace {

constexpr size_t kCheckSize = 16;

// Returns the line without its check, or nothing where the check is wrong.
std::optional<absl::string_view> OpenLine(absl::string_view sealed) {
  if (sealed.size() < kCheckSize + 1 || sealed[kCheckSize] != ' ') {
    return std::nullopt;
  }
  const absl::string_view line = sealed.substr(kCheckSize + 1);
  if (Sha256Hex(line).compare(0, kCheckSize, sealed.data(), kCheckSize) != 0) {
    return std::nullopt;
  }
  return line;
}

std::optional<ByteRange> ParseRange(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  ByteRange range;
  if (words.size() != 3 || words[0] != "range" ||
      !absl::SimpleAtoi(words[1], &range.begin) ||
      !absl::SimpleAtoi(words[2], &range.end) || range.begin < 0 ||
      range.end <= range.begin) {
    return std::nullopt;
  }
  return range;
}

// Takes one whole line into `content`; false where it makes no sense.
bool TakeLine(absl::string_view sealed, JournalContent& content) {
  const std::optional<absl::string_view> line = OpenLine(sealed);
  if (!line) return false;
  if (content.identity.empty()) {
    content.identity = std::string(*line);
    return absl::StartsWith(*line, "identity ");
  }
  const std::optional<ByteRange> range = ParseRange(*line);
  if (!range) return false;
  content.ranges.push_back(*range);
  return true;
}

}  // namespace

std::string IdentityLine(const ContentIdentity& identity) {
  if (!identity.size || identity.etag.empty()) return "";
  return absl::StrCat("identity ", Sha256Hex(identity.storage_urn), " ",
                      *identity.size, " ",
                      absl::BytesToHexString(identity.etag));
}

std::string RangeLine(ByteRange range) {
  return absl::StrCat("range ", range.begin, " ", range.end);
}

std::string SealLine(absl::string_view line) {
  return absl::StrCat(Sha256Hex(line).substr(0, kCheckSize), " ", line, "\n");
}

std::optional<JournalContent> ParseJournal(absl::string_view text) {
  JournalContent content;
  while (content.valid_bytes < text.size()) {
    const absl::string_view rest = text.substr(content.valid_bytes);
    const size_t newline = rest.find('\n');
    if (newline == absl::string_view::npos) break;
    if (!TakeLine(rest.substr(0, newline), content)) {
      const bool last = newline + 1 == rest.size();
      if (!last) return std::nullopt;
      if (content.ranges.empty()) return JournalContent();
      break;
    }
    content.valid_bytes += newline + 1;
  }
  content.ranges = MergeRanges(std::move(content.ranges));
  return content;
}

std::vector<ByteRange> MergeRanges(std::vector<ByteRange> ranges) {
  std::sort(
      ranges.begin(), ranges.end(),
      [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace bimbackup::storage::local
