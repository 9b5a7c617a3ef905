// Collecting lines into batches that are sent.

#ifndef SERVICES_FILE_SCAN_READER_LINE_BATCHER_H_
#define SERVICES_FILE_SCAN_READER_LINE_BATCHER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::reader {

struct BatcherOptions {
  // Lines are added to a batch until one more would pass this; the first one
  // always is.
  int64_t batch_bytes = int64_t{256} << 10;
  // Only lines that hold this are taken; all when empty. No line feed.
  std::string contains;
  // Lines taken in all; 0 for no limit.
  int64_t max_lines = 0;
  // Whether CollectedLines::lengths is filled.
  bool lengths = true;
};

// Lines that belong to whoever holds this.
struct CollectedLines {
  // Where the first line begins in the file, and where to go on.
  int64_t offset = 0;
  int64_t next_offset = 0;
  // The lines with their ends.
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  int64_t lines = 0;
  // Each line's bytes, its end included.
  std::vector<uint32_t> lengths;
  // Each line's place in the file; only where lines are chosen.
  std::vector<int64_t> offsets;
  // Whether these are the last ones.
  bool end = false;
  // Whether the last line has no end, as the file ends there.
  bool unterminated = false;
};

// Reads one file to its end, or to its last line wanted. Not thread-safe.
class LineBatcher {
 public:
  LineBatcher(std::unique_ptr<LineReader> reader,
              const BatcherOptions& options);

  // The next lines; the last ones, possibly none, have `end` set, and nothing
  // may be asked for after them. Fails as LineReader does.
  absl::StatusOr<CollectedLines> Next();

 private:
  // Makes batch_[line_] the next line; false at the end of the file.
  absl::StatusOr<bool> Advance();
  // The line of batch_ that the byte at `raw_offset` is in, from line_ on.
  size_t LineAt(size_t raw_offset) const;
  // Skips lines that are not wanted, within batch_.
  void SkipUnwanted();
  // Adds lines of batch_ to `lines`; false when there is no room for one.
  bool Take(CollectedLines& lines);
  // How many lines of batch_ there is room for, from line_ on.
  size_t LinesThatFit(const CollectedLines& lines) const;

  const std::unique_ptr<LineReader> reader_;
  const BatcherOptions options_;
  LineBatch batch_;
  // The line of batch_ to look at next.
  size_t line_ = 0;
  int64_t lines_left_;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_LINE_BATCHER_H_
