// Whole lines of a file that lie side by side in memory.

#ifndef SERVICES_FILE_SCAN_READER_LINE_BATCH_H_
#define SERVICES_FILE_SCAN_READER_LINE_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace bimbackup::file_scan::reader {

// A view of one or more lines: the bytes, and where each line ends. A line is
// shown without its end, which is LF or CR LF, or nothing for the last line
// of a file. A value that owns nothing: see LineReader::Next for how long
// what it shows lives.
class LineBatch {
 public:
  LineBatch() = default;

  // `base[begin]` is the first line's first byte, and stands at `offset` in
  // the file; `ends[i]` is the index in `base` of line i's line feed, or
  // one past the last line's last byte where that is `unterminated`.
  LineBatch(const char* base, size_t begin, const uint32_t* ends, size_t count,
            int64_t offset, bool unterminated = false)
      : base_(base),
        begin_(begin),
        ends_(ends),
        count_(count),
        offset_(offset),
        unterminated_(unterminated) {}

  size_t size() const { return count_; }

  // Where the first line begins in the file, and where the first line after
  // this batch does, in bytes.
  int64_t offset() const { return offset_; }
  int64_t end_offset() const { return offset_ + raw().size(); }

  // Whether the last line has no end, because the file ends there.
  bool unterminated() const { return unterminated_; }

  // All lines with their ends.
  absl::string_view raw() const {
    return absl::string_view(base_ + begin_, RawEnd(count_) - begin_);
  }

  // Where line `i` begins in raw(), and, for i == size(), where raw() ends.
  size_t raw_offset(size_t i) const { return RawEnd(i) - begin_; }

  // Line `i` without its end.
  absl::string_view line(size_t i) const {
    return WithoutCr(base_ + RawEnd(i), base_ + ends_[i], ByLineFeed(i));
  }

  // Calls visit(absl::string_view) with each line, in order. Faster than
  // line() in a loop.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    const char* begin = base_ + begin_;
    const size_t terminated = count_ - (unterminated_ ? 1 : 0);
    for (size_t i = 0; i < terminated; ++i) {
      const char* end = base_ + ends_[i];
      visit(WithoutCr(begin, end, true));
      begin = end + 1;
    }
    if (unterminated_) visit(line(count_ - 1));
  }

 private:
  bool ByLineFeed(size_t i) const { return !unterminated_ || i + 1 < count_; }

  // The index in base_ just past line i - 1 and its end.
  size_t RawEnd(size_t i) const {
    return i == 0 ? begin_ : ends_[i - 1] + (ByLineFeed(i - 1) ? 1 : 0);
  }

  static absl::string_view WithoutCr(const char* begin, const char* end,
                                     bool by_line_feed) {
    const bool has_cr = by_line_feed && end != begin && end[-1] == '\r';
    return absl::string_view(begin, end - begin - (has_cr ? 1 : 0));
  }

  const char* base_ = nullptr;
  size_t begin_ = 0;
  const uint32_t* ends_ = nullptr;
  size_t count_ = 0;
  int64_t offset_ = 0;
  bool unterminated_ = false;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_LINE_BATCH_H_
