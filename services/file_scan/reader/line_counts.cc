#include "services/file_scan/reader/line_counts.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "services/file_scan/reader/newline_kernels.h"

namespace bimbackup::file_scan::reader {
namespace {

// What is summarised may be a mapped file that somebody else writes to, so
// that a line feed seen by one pass may be gone in the next. The counts are
// then of no use, and will not be used, but nothing may go out of bounds.

// The bytes up to and with the first line feed, or all.
size_t ThroughLineFeed(absl::string_view bytes) {
  const size_t end = bytes.find('\n');
  return end == absl::string_view::npos ? bytes.size() : end + 1;
}

// Small enough that what one pass brings into the nearest cache is still
// there for the next one.
constexpr size_t kSliceBytes = 16 << 10;

// The lines that lie between two line feeds, measured one by one.
class InnerLines {
 public:
  InnerLines(BlockSummary& summary, int64_t max_line_bytes)
      : summary_(summary), max_line_bytes_(max_line_bytes) {}

  // `bytes` begins at a line's start, `at` bytes into the block, and ends
  // with a line feed.
  void Measure(absl::string_view bytes, int64_t at) {
    while (!bytes.empty()) {
      // A line longer than a slice makes one of its own.
      const size_t size = std::min(bytes.size(), kSliceBytes);
      size_t count = kernels_.index(bytes.data(), size, offsets_);
      if (count == 0) {
        offsets_[0] = static_cast<uint32_t>(ThroughLineFeed(bytes) - 1);
        count = 1;
      }
      MeasureIndexed(bytes.data(), count, at);
      const size_t used = offsets_[count - 1] + 1;
      bytes.remove_prefix(used);
      at += used;
    }
  }

 private:
  void MeasureIndexed(const char* data, size_t count, int64_t at) {
    size_t begin = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t end = offsets_[i];
      const bool has_cr = end > begin && data[end - 1] == '\r';
      const int64_t length = end - begin - (has_cr ? 1 : 0);
      summary_.longest_inner = std::max(summary_.longest_inner, length);
      if (length > max_line_bytes_ && summary_.too_long_at < 0) {
        summary_.too_long_at = at + begin;
      }
      begin = end + 1;
    }
  }

  const NewlineKernels& kernels_ = BestNewlineKernels();
  BlockSummary& summary_;
  const int64_t max_line_bytes_;
  uint32_t offsets_[kSliceBytes + kIndexSlack];
};

// Counts slice by slice, and measures the lines of those slices that may
// hold a longer one than known.
void SummariseInner(absl::string_view bytes, int64_t at, int64_t known_longest,
                    int64_t max_line_bytes, BlockSummary& summary) {
  const NewlineKernels& kernels = BestNewlineKernels();
  while (!bytes.empty()) {
    // Cut at a line's end, so that every slice holds whole lines.
    size_t size = bytes.size();
    if (size > kSliceBytes) {
      const void* end = memrchr(bytes.data(), '\n', kSliceBytes);
      size = end == nullptr ? ThroughLineFeed(bytes)
                            : static_cast<const char*>(end) - bytes.data() + 1;
    }
    const GapScan scan = kernels.scan(bytes.data(), size);
    summary.newlines += scan.newlines;
    if (static_cast<int64_t>(scan.longest_gap) >
        std::max(known_longest, summary.longest_inner)) {
      InnerLines(summary, max_line_bytes).Measure(bytes.substr(0, size), at);
    }
    bytes.remove_prefix(size);
    at += size;
  }
}

}  // namespace

BlockSummary Summarise(absl::string_view bytes, int64_t known_longest,
                       int64_t max_line_bytes) {
  BlockSummary summary;
  summary.bytes = bytes.size();
  summary.ends_in_cr = !bytes.empty() && bytes.back() == '\r';
  const size_t first = bytes.find('\n');
  const void* last = memrchr(bytes.data(), '\n', bytes.size());
  if (first == absl::string_view::npos || last == nullptr) {
    summary.head = summary.tail = bytes.size();
    summary.head_ends_in_cr = summary.ends_in_cr;
    return summary;
  }
  summary.newlines = 1;
  summary.head = first;
  summary.head_ends_in_cr = first > 0 && bytes[first - 1] == '\r';
  const size_t inner_end = std::max<size_t>(
      first + 1, static_cast<const char*>(last) - bytes.data() + 1);
  summary.tail = bytes.size() - inner_end;
  SummariseInner(bytes.substr(first + 1, inner_end - first - 1), first + 1,
                 known_longest, max_line_bytes, summary);
  return summary;
}

absl::Status LineTooLong(int64_t offset, int64_t max_line_bytes) {
  return absl::OutOfRangeError(absl::StrCat("the line at byte offset ", offset,
                                            " is longer than the limit of ",
                                            max_line_bytes, " bytes"));
}

absl::Status LineCounter::Add(absl::string_view bytes) {
  return Add(Summarise(bytes, longest_, max_line_bytes_));
}

absl::Status LineCounter::Add(const BlockSummary& block) {
  const int64_t line_start = offset_ - open_;
  if (block.newlines == 0) {
    open_ += block.bytes;
    if (block.bytes > 0) open_ends_in_cr_ = block.ends_in_cr;
  } else {
    const bool has_cr =
        block.head > 0 ? block.head_ends_in_cr : open_ends_in_cr_;
    const int64_t joined = open_ + block.head - (has_cr ? 1 : 0);
    if (joined > max_line_bytes_) {
      return LineTooLong(line_start, max_line_bytes_);
    }
    if (block.too_long_at >= 0) {
      return LineTooLong(offset_ + block.too_long_at, max_line_bytes_);
    }
    longest_ = std::max({longest_, joined, block.longest_inner});
    open_ = block.tail;
    open_ends_in_cr_ = block.tail > 0 && block.ends_in_cr;
  }
  newlines_ += block.newlines;
  offset_ += block.bytes;
  // One more byte may still turn out to be part of the line's end.
  if (open_ > max_line_bytes_ + (open_ends_in_cr_ ? 1 : 0)) {
    return LineTooLong(offset_ - open_, max_line_bytes_);
  }
  return absl::OkStatus();
}

LineCounts LineCounter::Counts() const {
  LineCounts counts;
  counts.lines = newlines_ + (open_ > 0 ? 1 : 0);
  counts.bytes = offset_ - start_;
  counts.longest_line = std::max(longest_, open_);
  counts.unterminated = open_ > 0;
  return counts;
}

absl::StatusOr<LineCounts> LineCounter::Finish() const {
  // A carriage return that no line feed follows is part of the line.
  if (open_ > max_line_bytes_) {
    return LineTooLong(offset_ - open_, max_line_bytes_);
  }
  return Counts();
}

}  // namespace bimbackup::file_scan::reader
