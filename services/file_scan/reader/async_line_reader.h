// A LineReader that awaits: what the text that started this project measured.

#ifndef SERVICES_FILE_SCAN_READER_ASYNC_LINE_READER_H_
#define SERVICES_FILE_SCAN_READER_ASYNC_LINE_READER_H_

#include <coroutine>
#include <memory>
#include <string>
#include <vector>

#include "services/file_scan/reader/block_line_reader.h"
#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/line_reader.h"
#include "services/file_scan/reader/refill_thread.h"
#include "services/file_scan/reader/task.h"

namespace bimbackup::file_scan::reader {

// Every line is a coroutine of its own; when the buffer holds no whole line,
// the refill is handed to another thread and awaited, and the coroutine goes
// on in the thread that called the reader. Nothing is gained by that: the
// strategy is there to measure what it costs.
class AsyncLineReader : public LineReader {
 public:
  AsyncLineReader(std::unique_ptr<BlockSource> source,
                  const ReaderOptions& options);

  absl::StatusOr<bool> Next(LineBatch& batch) override;
  absl::StatusOr<LineCounts> CountRest() override;
  std::shared_ptr<const void> Share() const override;
  absl::Status Check() override { return source_->Check(); }
  int64_t offset() const override { return offset_; }
  ReadStats stats() const override;

 private:
  // A line with its end.
  struct Line {
    absl::string_view raw;
    bool unterminated = false;

    absl::string_view Content() const;
  };
  struct RefillAwaiter;
  enum class Refill { kAllowed, kNotAllowed };

  // The next line; false at the end of the file, or of the buffer where no
  // refill is allowed.
  Task<absl::StatusOr<bool>> ReadLine(Refill refill, Line& line);
  // As many lines as lie side by side in the buffer.
  Task<absl::StatusOr<bool>> ReadBatch(LineBatch& batch);
  Task<absl::StatusOr<LineCounts>> CountLines();

  // Runs `task`, and the refills that it awaits, to its end.
  template <typename T>
  T Run(Task<T> task);
  // Takes the whole line that rest_ begins with, if there is one.
  absl::StatusOr<bool> TakeLine(Line& line);
  absl::Status KeepRest();
  // Notes what the refill brought; false at the end of the file.
  absl::StatusOr<bool> TakeBlock();

  const std::unique_ptr<BlockSource> source_;
  const int64_t start_offset_;
  const int64_t max_line_bytes_;
  const bool drop_byte_order_mark_;
  KeepGoingCheck keep_going_;
  int64_t offset_;
  bool at_start_;
  // What of the buffer has not been shown.
  absl::string_view rest_;
  // A line that crosses refills, and whether it is what was shown last.
  std::string carry_;
  bool carry_shown_ = false;
  std::vector<uint32_t> ends_;
  LineCounts so_far_;
  // What Next() returned last: the end and a failure are for ever.
  absl::StatusOr<bool> last_ = true;
  // Who awaits the refill, and its result.
  std::coroutine_handle<> awaiting_;
  absl::StatusOr<absl::string_view> block_ = absl::string_view();
  // Last, so that it is gone before what it fills.
  mutable RefillThread thread_;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_ASYNC_LINE_READER_H_
