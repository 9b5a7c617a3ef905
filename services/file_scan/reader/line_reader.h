// The seam over ways to read a file line by line.

#ifndef SERVICES_FILE_SCAN_READER_LINE_READER_H_
#define SERVICES_FILE_SCAN_READER_LINE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/reader/line_batch.h"
#include "services/file_scan/reader/line_counts.h"
#include "services/file_scan/reader/read_stats.h"

namespace bimbackup::file_scan::reader {

// How a file's bytes are brought in. Compressed ones are read, not mapped, and
// by one thread.
enum class Strategy { kBlocking, kAsync, kIoUring, kMmap, kParallel };

// "blocking", "async", "io_uring", "mmap", "parallel".
absl::string_view StrategyName(Strategy strategy);

enum class Decompression { kByName, kNone, kZstd };

inline constexpr int64_t kMinBufferBytes = 64;
inline constexpr int64_t kMaxBufferBytes = int64_t{64} << 20;
inline constexpr int64_t kDefaultMaxLineBytes = int64_t{64} << 20;
inline constexpr int64_t kGreatestMaxLineBytes = int64_t{1} << 30;
inline constexpr int kMaxThreads = 16;

// What to read, and how. All strategies give the same lines.
struct ReaderOptions {
  Strategy strategy = Strategy::kBlocking;
  // kMinBufferBytes to kMaxBufferBytes, or 0 for the strategy's default.
  int64_t buffer_bytes = 0;
  // Threads of kParallel, the caller's included; 1 to kMaxThreads.
  int threads = 2;
  // The longest line allowed, without its end; 1 to kGreatestMaxLineBytes.
  int64_t max_line_bytes = kDefaultMaxLineBytes;
  bool drop_byte_order_mark = false;
  Decompression decompression = Decompression::kByName;
  // The byte to begin at; what stands before it is not looked at, so that the
  // first line may be the rest of one.
  int64_t start_offset = 0;
  // Asked about once a mebibyte, by the thread that calls the reader; the call
  // ends with CANCELLED once it returns false. `so_far.bytes` is what has been
  // read, the rest of it is known only to CountRest(). May be empty.
  std::function<bool(const LineCounts& so_far)> keep_going;
};

// The buffer size that stands for 0.
int64_t DefaultBufferBytes(Strategy strategy);

// Reads one file from front to back, once, up to the size that it had when it
// was opened. Bytes appended later are not seen. Fails with
//   OUT_OF_RANGE for a line over the limit, after all lines before it,
//   ABORTED when the file shrinks below what was to be read,
//   DATA_LOSS for compressed data that is damaged or cut short,
//   CANCELLED when the options say so,
// and with what the file system answers. After a failure, or the end, the
// same is returned for ever. Not thread-safe.
class LineReader {
 public:
  virtual ~LineReader() = default;

  // Shows the next lines, at least one; returns false at the end of the file.
  // What `batch` shows lives until the next call or destruction, or as long
  // as what Share() returned for it.
  //
  // Where the file is mapped and shrinks meanwhile, lines shown may hold NUL
  // bytes in place of what was cut off; Check() and the following call then
  // say ABORTED.
  virtual absl::StatusOr<bool> Next(LineBatch& batch) = 0;

  // Counts what Next() has not yet shown, without showing it, and faster.
  virtual absl::StatusOr<LineCounts> CountRest() = 0;

  // Shares the memory that the last batch shows; null when this reader uses
  // it again, so that the lines must be copied to be kept.
  virtual std::shared_ptr<const void> Share() const = 0;

  // Whether the last batch showed what the file holds: OK, or the error that
  // Next() would return for it.
  virtual absl::Status Check() = 0;

  // Where the next call continues, in bytes. Only between calls.
  virtual int64_t offset() const = 0;

  virtual ReadStats stats() const = 0;
};

// A reader of `file`. INVALID_ARGUMENT when an option is out of its range,
// OUT_OF_RANGE when the start offset is beyond the end (for compressed files
// said by the first call of the reader), UNAVAILABLE when io_uring is blocked
// here.
absl::StatusOr<std::unique_ptr<LineReader>> OpenLineReader(
    std::shared_ptr<const InputFile> file, const ReaderOptions& options);

// Reads all of `reader` and calls `visit` with each line; stops at the first
// status that is not OK, and returns it.
absl::Status ForEachLine(
    LineReader& reader,
    const std::function<absl::Status(absl::string_view line)>& visit);

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_LINE_READER_H_
