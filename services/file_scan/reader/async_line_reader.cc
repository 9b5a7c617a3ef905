#include "services/file_scan/reader/async_line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr size_t kMaxBatchLines = 64 << 10;

}  // namespace

// Hands the refill to the other thread and suspends whoever awaits it.
struct AsyncLineReader::RefillAwaiter {
  AsyncLineReader& reader;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    reader.awaiting_ = awaiting;
    reader.thread_.Post();
  }
  absl::StatusOr<bool> await_resume() { return reader.TakeBlock(); }
};

absl::string_view AsyncLineReader::Line::Content() const {
  absl::string_view content = raw;
  if (unterminated) return content;
  content.remove_suffix(1);
  if (absl::EndsWith(content, "\r")) content.remove_suffix(1);
  return content;
}

AsyncLineReader::AsyncLineReader(std::unique_ptr<BlockSource> source,
                                 const ReaderOptions& options)
    : source_(std::move(source)),
      start_offset_(options.start_offset),
      max_line_bytes_(options.max_line_bytes),
      drop_byte_order_mark_(options.drop_byte_order_mark),
      keep_going_(options.keep_going),
      offset_(options.start_offset),
      at_start_(options.start_offset == 0),
      thread_([this] { block_ = source_->Next(); }) {}

absl::StatusOr<bool> AsyncLineReader::Next(LineBatch& batch) {
  if (!last_.ok() || !*last_) return last_;
  last_ = Run(ReadBatch(batch));
  return last_;
}

absl::StatusOr<LineCounts> AsyncLineReader::CountRest() {
  if (!last_.ok()) return last_.status();
  if (!*last_) return LineCounts();
  absl::StatusOr<LineCounts> counts = Run(CountLines());
  last_ = counts.ok() ? absl::StatusOr<bool>(false) : counts.status();
  return counts;
}

std::shared_ptr<const void> AsyncLineReader::Share() const {
  return carry_shown_ ? nullptr : source_->Share();
}

ReadStats AsyncLineReader::stats() const {
  ReadStats stats = source_->stats();
  stats.helper_cpu += thread_.cpu();
  return stats;
}

template <typename T>
T AsyncLineReader::Run(Task<T> task) {
  task.Start();
  while (!task.done()) {
    thread_.Await();
    awaiting_.resume();
  }
  return task.TakeValue();
}

Task<absl::StatusOr<bool>> AsyncLineReader::ReadLine(Refill refill,
                                                     Line& line) {
  if (carry_shown_) carry_.clear();
  carry_shown_ = false;
  for (;;) {
    absl::StatusOr<bool> taken = TakeLine(line);
    if (!taken.ok() || *taken || refill == Refill::kNotAllowed) {
      co_return taken;
    }
    if (absl::Status status = KeepRest(); !status.ok()) co_return status;
    absl::StatusOr<bool> more = co_await RefillAwaiter{*this};
    if (!more.ok()) co_return more;
    if (*more) continue;
    if (carry_.empty()) co_return false;
    if (static_cast<int64_t>(carry_.size()) > max_line_bytes_) {
      co_return LineTooLong(offset_, max_line_bytes_);
    }
    line = {carry_, true};
    carry_shown_ = true;
    offset_ += carry_.size();
    co_return true;
  }
}

absl::StatusOr<bool> AsyncLineReader::TakeLine(Line& line) {
  const size_t end = rest_.find('\n');
  if (end == absl::string_view::npos) return false;
  if (carry_.empty()) {
    line = {rest_.substr(0, end + 1), false};
  } else {
    carry_.append(rest_.data(), end + 1);
    line = {carry_, false};
    carry_shown_ = true;
  }
  if (static_cast<int64_t>(line.Content().size()) > max_line_bytes_) {
    return LineTooLong(offset_, max_line_bytes_);
  }
  rest_.remove_prefix(end + 1);
  offset_ += line.raw.size();
  return true;
}

absl::Status AsyncLineReader::KeepRest() {
  carry_.append(rest_.data(), rest_.size());
  rest_ = absl::string_view();
  so_far_.bytes = offset_ + carry_.size() - start_offset_;
  ABSL_RETURN_IF_ERROR(keep_going_.Advance(so_far_));
  return CheckOpenLine(carry_, offset_, max_line_bytes_);
}

absl::StatusOr<bool> AsyncLineReader::TakeBlock() {
  if (!block_.ok()) return block_.status();
  rest_ = *block_;
  const bool more = !rest_.empty();
  if (at_start_ && drop_byte_order_mark_) {
    const size_t mark = ByteOrderMarkBytes(rest_);
    rest_.remove_prefix(mark);
    offset_ += mark;
  }
  at_start_ = false;
  return more;
}

Task<absl::StatusOr<bool>> AsyncLineReader::ReadBatch(LineBatch& batch) {
  Line line;
  absl::StatusOr<bool> read = co_await ReadLine(Refill::kAllowed, line);
  if (!read.ok() || !*read) co_return read;
  const char* base = line.raw.data();
  const int64_t offset = offset_ - line.raw.size();
  ends_.clear();
  ends_.push_back(line.raw.size() - (line.unterminated ? 0 : 1));
  while (!carry_shown_ && ends_.size() < kMaxBatchLines) {
    Line more;
    read = co_await ReadLine(Refill::kNotAllowed, more);
    // A line over the limit is found again by the next call.
    if (!read.ok() || !*read) break;
    ends_.push_back(more.raw.data() + more.raw.size() - 1 - base);
  }
  batch =
      LineBatch(base, 0, ends_.data(), ends_.size(), offset, line.unterminated);
  co_return true;
}

Task<absl::StatusOr<LineCounts>> AsyncLineReader::CountLines() {
  const int64_t start = offset_;
  Line line;
  for (;;) {
    absl::StatusOr<bool> read = co_await ReadLine(Refill::kAllowed, line);
    if (!read.ok()) co_return read.status();
    if (!*read) break;
    const int64_t length = line.Content().size();
    ++so_far_.lines;
    so_far_.longest_line = std::max(so_far_.longest_line, length);
    so_far_.unterminated = line.unterminated;
  }
  so_far_.bytes = offset_ - start;
  co_return so_far_;
}

}  // namespace bimbackup::file_scan::reader
