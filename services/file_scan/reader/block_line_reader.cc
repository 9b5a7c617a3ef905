#include "services/file_scan/reader/block_line_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "services/common/status_macros.h"
#include "services/file_scan/reader/newline_kernels.h"

namespace bimbackup::file_scan::reader {
namespace {

// What one pass brings into the second-level cache is still there for the
// next one.
constexpr size_t kSliceBytes = 64 << 10;
constexpr int64_t kBytesBetweenQuestions = 1 << 20;

}  // namespace

size_t ByteOrderMarkBytes(absl::string_view bytes) {
  return absl::StartsWith(bytes, "\xef\xbb\xbf") ? 3 : 0;
}

absl::Status CheckOpenLine(absl::string_view open, int64_t offset,
                           int64_t max_line_bytes) {
  // A carriage return may turn out to be part of the line's end.
  const int64_t allowed = max_line_bytes + (absl::EndsWith(open, "\r") ? 1 : 0);
  return static_cast<int64_t>(open.size()) > allowed
             ? LineTooLong(offset, max_line_bytes)
             : absl::OkStatus();
}

absl::Status KeepGoingCheck::Advance(const LineCounts& so_far) {
  if (so_far.bytes < ask_at_) return absl::OkStatus();
  ask_at_ = so_far.bytes + kBytesBetweenQuestions;
  if (keep_going_ && !keep_going_(so_far)) {
    return absl::CancelledError("the scan was cancelled");
  }
  return absl::OkStatus();
}

BlockLineReader::BlockLineReader(std::unique_ptr<BlockSource> source,
                                 const ReaderOptions& options)
    : source_(std::move(source)),
      start_offset_(options.start_offset),
      max_line_bytes_(options.max_line_bytes),
      drop_byte_order_mark_(options.drop_byte_order_mark),
      keep_going_(options.keep_going),
      offset_(options.start_offset) {}

absl::StatusOr<bool> BlockLineReader::Next(LineBatch& batch) {
  if (!last_.ok() || !*last_) return last_;
  last_ = Advance(batch);
  if (!last_.ok()) last_ = Explained(last_.status());
  return last_;
}

absl::StatusOr<LineCounts> BlockLineReader::CountRest() {
  if (!last_.ok()) return last_.status();
  if (!*last_) return LineCounts();
  absl::StatusOr<LineCounts> counts = Count();
  if (!counts.ok()) counts = Explained(counts.status());
  last_ = counts.ok() ? absl::StatusOr<bool>(false) : counts.status();
  return counts;
}

absl::Status BlockLineReader::Explained(const absl::Status& failure) {
  if (!absl::IsOutOfRange(failure)) return failure;
  const absl::Status check = source_->Check();
  return check.ok() ? failure : check;
}

std::shared_ptr<const void> BlockLineReader::Share() const {
  return carry_shown_ ? nullptr : source_->Share();
}

absl::StatusOr<bool> BlockLineReader::Advance(LineBatch& batch) {
  if (carry_shown_) carry_.clear();
  carry_shown_ = false;
  for (;;) {
    if (rest_.empty()) {
      LineCounts so_far;
      so_far.bytes = offset_ + carry_.size() - start_offset_;
      ABSL_ASSIGN_OR_RETURN(const bool more, NextBlock(so_far));
      if (!more) return carry_.empty() ? false : ShowCarry(true, batch);
    }
    if (carry_.empty()) {
      ABSL_ASSIGN_OR_RETURN(const bool shown, ShowRest(batch));
      if (shown) return true;
    }
    ABSL_ASSIGN_OR_RETURN(const bool complete, ExtendCarry());
    if (complete) return ShowCarry(false, batch);
  }
}

absl::StatusOr<LineCounts> BlockLineReader::Count() {
  source_->CountOnly();
  LineCounter counter(offset_, max_line_bytes_);
  for (;;) {
    if (rest_.empty()) {
      const int64_t end = offset_;
      ABSL_ASSIGN_OR_RETURN(const bool more, NextBlock(counter.Counts()));
      counter.Skip(offset_ - end);
      if (!more) return counter.Finish();
    }
    const bool whole = rest_.size() == block_.size();
    const BlockSummary* summary = whole ? source_->Summary() : nullptr;
    ABSL_RETURN_IF_ERROR(summary == nullptr ? counter.Add(rest_)
                                            : counter.Add(*summary));
    offset_ += rest_.size();
    rest_ = absl::string_view();
  }
}

absl::StatusOr<bool> BlockLineReader::NextBlock(const LineCounts& so_far) {
  ABSL_RETURN_IF_ERROR(keep_going_.Advance(so_far));
  const bool at_start = block_.empty() && offset_ == 0;
  do {
    ABSL_ASSIGN_OR_RETURN(block_, source_->Next());
    rest_ = block_;
    index_ = source_->Index();
    if (at_start && drop_byte_order_mark_ && offset_ == 0) {
      offset_ = ByteOrderMarkBytes(rest_);
      rest_.remove_prefix(offset_);
      DropIndexBefore(offset_);
    }
  } while (rest_.empty() && !block_.empty());
  return !rest_.empty();
}

absl::StatusOr<bool> BlockLineReader::ExtendCarry() {
  const size_t end = FirstLineFeed();
  const bool complete = end != absl::string_view::npos;
  const size_t size = complete ? end + 1 : rest_.size();
  const size_t content = complete ? end : rest_.size();
  // Looked at before it is copied: the limit bounds the memory, too.
  const int64_t room =
      max_line_bytes_ + 1 - static_cast<int64_t>(carry_.size());
  if (static_cast<int64_t>(content) > room) {
    return LineTooLong(offset_, max_line_bytes_);
  }
  carry_.append(rest_.data(), size);
  rest_.remove_prefix(size);
  if (complete && index_.has_value()) index_->remove_prefix(1);
  if (!complete) {
    ABSL_RETURN_IF_ERROR(CheckOpenLine(carry_, offset_, max_line_bytes_));
  }
  return complete;
}

size_t BlockLineReader::FirstLineFeed() const {
  if (!index_.has_value()) return rest_.find('\n');
  return index_->empty() ? absl::string_view::npos
                         : index_->front() - (rest_.data() - block_.data());
}

void BlockLineReader::DropIndexBefore(size_t begin) {
  while (index_.has_value() && !index_->empty() && index_->front() < begin) {
    index_->remove_prefix(1);
  }
}

absl::StatusOr<bool> BlockLineReader::ShowCarry(bool unterminated,
                                                LineBatch& batch) {
  if (ends_.empty()) ends_.resize(1);
  ends_[0] = static_cast<uint32_t>(carry_.size() - (unterminated ? 0 : 1));
  batch = LineBatch(carry_.data(), 0, ends_.data(), 1, offset_, unterminated);
  if (static_cast<int64_t>(batch.line(0).size()) > max_line_bytes_) {
    return LineTooLong(offset_, max_line_bytes_);
  }
  carry_shown_ = true;
  offset_ += carry_.size();
  return true;
}

absl::StatusOr<bool> BlockLineReader::ShowRest(LineBatch& batch) {
  const absl::Span<const uint32_t> ends =
      index_.has_value() ? *index_ : IndexSlice();
  if (ends.empty()) return false;
  const size_t count = WithinLimit(ends);
  if (count == 0) return LineTooLong(offset_, max_line_bytes_);
  batch = LineBatch(block_.data(), rest_.data() - block_.data(), ends.data(),
                    count, offset_);
  offset_ = batch.end_offset();
  rest_.remove_prefix(batch.raw().size());
  if (index_.has_value()) index_->remove_prefix(count);
  return true;
}

absl::Span<const uint32_t> BlockLineReader::IndexSlice() {
  const size_t size = std::min(rest_.size(), kSliceBytes);
  if (ends_.size() < size + kIndexSlack) ends_.resize(size + kIndexSlack);
  size_t count = BestNewlineKernels().index(rest_.data(), size, ends_.data());
  if (count == 0) {
    const size_t end = rest_.find('\n', size);
    if (end == absl::string_view::npos) return {};
    ends_[0] = static_cast<uint32_t>(end);
    count = 1;
  }
  // From here on the slice is the block.
  block_ = rest_;
  return absl::MakeConstSpan(ends_.data(), count);
}

size_t BlockLineReader::WithinLimit(absl::Span<const uint32_t> ends) const {
  const size_t begin = rest_.data() - block_.data();
  if (static_cast<int64_t>(ends.back() - begin) <= max_line_bytes_) {
    return ends.size();
  }
  const LineBatch all(block_.data(), begin, ends.data(), ends.size(), offset_);
  for (size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int64_t>(all.line(i).size()) > max_line_bytes_) return i;
  }
  return all.size();
}

}  // namespace bimbackup::file_scan::reader
