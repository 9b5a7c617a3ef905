// What a LineReader must give, said as plainly as possible. For tests only.

#ifndef SERVICES_FILE_SCAN_READER_REFERENCE_LINES_H_
#define SERVICES_FILE_SCAN_READER_REFERENCE_LINES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::reader {

// The lines of a file, and how reading it ended.
struct LinesRead {
  std::vector<std::string> lines;
  // Where each line begins in the file.
  std::vector<int64_t> offsets;
  // The lines with their ends, one after the other.
  std::string raw;
  bool unterminated = false;
  absl::Status status;

  LineCounts Counts(int64_t start_offset) const;
};

// The lines of a file that holds `content`, one byte at a time.
LinesRead ReferenceLines(absl::string_view content,
                         const ReaderOptions& options);

// What `reader` gives through Next(), at most `max_batches` times.
LinesRead ReadAll(LineReader& reader, int max_batches = 1 << 30);

// A file that holds `content` and lives in memory only.
std::shared_ptr<const InputFile> FileHolding(absl::string_view content,
                                             absl::string_view name = "file");

// `content` as Zstandard frames of at most `frame_bytes` of it.
std::string Compressed(absl::string_view content, size_t frame_bytes);

// Says how `read` differs from `expected`; empty when it does not.
std::string Difference(const LinesRead& read, const LinesRead& expected);

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_REFERENCE_LINES_H_
