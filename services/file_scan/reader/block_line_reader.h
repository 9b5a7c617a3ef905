// A LineReader over any BlockSource.

#ifndef SERVICES_FILE_SCAN_READER_BLOCK_LINE_READER_H_
#define SERVICES_FILE_SCAN_READER_BLOCK_LINE_READER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::reader {

// Length of the UTF-8 byte-order mark that `bytes` begin with, or 0.
size_t ByteOrderMarkBytes(absl::string_view bytes);

// OUT_OF_RANGE when `open`, the beginning of a line at `offset` whose end has
// not been seen, is over the limit whatever follows.
absl::Status CheckOpenLine(absl::string_view open, int64_t offset,
                           int64_t max_line_bytes);

// Asks whether to go on, but not more often than is worth it.
class KeepGoingCheck {
 public:
  using KeepGoing = std::function<bool(const LineCounts&)>;

  explicit KeepGoingCheck(KeepGoing keep_going)
      : keep_going_(std::move(keep_going)) {}

  // Notes that `so_far` has been read. CANCELLED when told so.
  absl::Status Advance(const LineCounts& so_far);

 private:
  const KeepGoing keep_going_;
  int64_t ask_at_ = 0;
};

// Finds the line ends of a slice of a block in one pass, then shows its lines
// in another. A line that crosses blocks is put together in a buffer of its
// own and shown alone.
class BlockLineReader : public LineReader {
 public:
  BlockLineReader(std::unique_ptr<BlockSource> source,
                  const ReaderOptions& options);

  absl::StatusOr<bool> Next(LineBatch& batch) override;
  absl::StatusOr<LineCounts> CountRest() override;
  std::shared_ptr<const void> Share() const override;
  absl::Status Check() override { return source_->Check(); }
  int64_t offset() const override { return offset_; }
  ReadStats stats() const override { return source_->stats(); }

 private:
  absl::StatusOr<bool> Advance(LineBatch& batch);
  // `failure`, unless it is a line that is too long only because the zeros of
  // what was cut off a mapped file were read.
  absl::Status Explained(const absl::Status& failure);
  absl::StatusOr<LineCounts> Count();
  // Gets the next block into rest_; false at the end.
  absl::StatusOr<bool> NextBlock(const LineCounts& so_far);
  // Moves bytes of rest_ to the end of carry_, up to and with the first line
  // feed; returns whether there was one.
  absl::StatusOr<bool> ExtendCarry();
  // The first line feed of rest_, or npos. By the index where there is one:
  // a mapped file may have changed since it was made.
  size_t FirstLineFeed() const;
  void DropIndexBefore(size_t begin);
  // Shows carry_ as one line.
  absl::StatusOr<bool> ShowCarry(bool unterminated, LineBatch& batch);
  // Shows lines of rest_, or finds none.
  absl::StatusOr<bool> ShowRest(LineBatch& batch);
  // Finds the ends of a slice's lines, relative to block_.
  absl::Span<const uint32_t> IndexSlice();
  // How many of the lines that end at `ends` are within the limit, from the
  // first one on.
  size_t WithinLimit(absl::Span<const uint32_t> ends) const;

  const std::unique_ptr<BlockSource> source_;
  const int64_t start_offset_;
  const int64_t max_line_bytes_;
  const bool drop_byte_order_mark_;
  KeepGoingCheck keep_going_;
  // Where rest_, or what is carried, begins in the file.
  int64_t offset_;
  // The last block; what of it has not been shown; and the ends of its lines
  // that have not, where the source found them.
  absl::string_view block_;
  absl::string_view rest_;
  std::optional<absl::Span<const uint32_t>> index_;
  // A line that crosses blocks, and whether it is what was shown last.
  std::string carry_;
  bool carry_shown_ = false;
  std::vector<uint32_t> ends_;
  // What Next() returned last: the end and a failure are for ever.
  absl::StatusOr<bool> last_ = true;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_BLOCK_LINE_READER_H_
