// Counting lines without looking at each.

#ifndef SERVICES_FILE_SCAN_READER_LINE_COUNTS_H_
#define SERVICES_FILE_SCAN_READER_LINE_COUNTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::file_scan::reader {

// What there is to count of a file, or of its rest.
struct LineCounts {
  // An unfinished last line included.
  int64_t lines = 0;
  // Line ends included.
  int64_t bytes = 0;
  // The longest line's bytes, without its end.
  int64_t longest_line = 0;
  // Whether the last line has no end.
  bool unterminated = false;
};

// What must be known of some bytes to count the lines of a file that they are
// a part of: the lines that lie wholly within, and the ragged edges.
struct BlockSummary {
  int64_t bytes = 0;
  int64_t newlines = 0;
  // The bytes before the first line feed, and whether the last of them is a
  // carriage return.
  int64_t head = 0;
  bool head_ends_in_cr = false;
  // The longest line between two line feeds, without its end; 0 where it
  // would not be longer than what was known already.
  int64_t longest_inner = 0;
  // The first byte of the first such line over the limit, or -1.
  int64_t too_long_at = -1;
  // The bytes after the last line feed (all, where there is none), and whether
  // the last byte of all is a carriage return.
  int64_t tail = 0;
  bool ends_in_cr = false;
};

// Summarises `bytes`, of at most 4 GiB. `known_longest` is the length of a
// line that was seen already, or 0; lines up to it need not be measured.
// `max_line_bytes` is what too_long_at goes by, at least `known_longest`.
BlockSummary Summarise(absl::string_view bytes, int64_t known_longest,
                       int64_t max_line_bytes);

// The OUT_OF_RANGE of a line over the limit that begins at `offset`.
absl::Status LineTooLong(int64_t offset, int64_t max_line_bytes);

// Adds up the blocks of a file, in order. Not thread-safe.
class LineCounter {
 public:
  // `offset` is where the first block begins in the file.
  LineCounter(int64_t offset, int64_t max_line_bytes)
      : start_(offset), offset_(offset), max_line_bytes_(max_line_bytes) {}

  // Adds the next bytes. OUT_OF_RANGE when a line is over the limit.
  absl::Status Add(absl::string_view bytes);
  absl::Status Add(const BlockSummary& block);

  // Counts bytes that belong to no line.
  void Skip(int64_t bytes) { offset_ += bytes; }

  // The longest line finished so far.
  int64_t longest_line() const { return longest_; }

  // The counts of what has been added, as if the file ended here.
  LineCounts Counts() const;

  // The counts, now that the file has ended. OUT_OF_RANGE when the last line
  // is over the limit.
  absl::StatusOr<LineCounts> Finish() const;

 private:
  const int64_t start_;
  int64_t offset_;
  const int64_t max_line_bytes_;
  int64_t newlines_ = 0;
  int64_t longest_ = 0;
  // The bytes of the line that has not ended yet.
  int64_t open_ = 0;
  bool open_ends_in_cr_ = false;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_LINE_COUNTS_H_
