#include "services/file_scan/reader/line_batcher.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {

LineBatcher::LineBatcher(std::unique_ptr<LineReader> reader,
                         const BatcherOptions& options)
    : reader_(std::move(reader)),
      options_(options),
      lines_left_(options.max_lines > 0 ? options.max_lines
                                        : std::numeric_limits<int64_t>::max()) {
}

absl::StatusOr<CollectedLines> LineBatcher::Next() {
  CollectedLines lines;
  lines.offset = -1;
  while (lines_left_ > 0) {
    ABSL_ASSIGN_OR_RETURN(const bool more, Advance());
    lines.end = !more;
    if (!more || !Take(lines)) break;
    // Before the bytes are called the file's: see LineReader::Check.
    if (line_ == batch_.size()) ABSL_RETURN_IF_ERROR(reader_->Check());
  }
  lines.end = lines.end || lines_left_ == 0;
  ABSL_RETURN_IF_ERROR(reader_->Check());
  lines.next_offset = line_ < batch_.size()
                          ? batch_.offset() + batch_.raw_offset(line_)
                          : reader_->offset();
  if (lines.offset < 0) lines.offset = lines.next_offset;
  return lines;
}

absl::StatusOr<bool> LineBatcher::Advance() {
  for (;;) {
    if (line_ < batch_.size() && !options_.contains.empty()) SkipUnwanted();
    if (line_ < batch_.size()) return true;
    ABSL_ASSIGN_OR_RETURN(const bool more, reader_->Next(batch_));
    if (!more) batch_ = LineBatch();
    line_ = 0;
    if (!more) return false;
  }
}

size_t LineBatcher::LineAt(size_t raw_offset) const {
  size_t low = line_;
  size_t high = batch_.size() - 1;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    if (batch_.raw_offset(middle) <= raw_offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void LineBatcher::SkipUnwanted() {
  const absl::string_view raw = batch_.raw();
  size_t at = batch_.raw_offset(line_);
  while (line_ < batch_.size()) {
    const void* found =
        memmem(raw.data() + at, raw.size() - at, options_.contains.data(),
               options_.contains.size());
    if (found == nullptr) break;
    at = static_cast<const char*>(found) - raw.data();
    line_ = LineAt(at);
    const size_t content_end =
        batch_.raw_offset(line_) + batch_.line(line_).size();
    if (at + options_.contains.size() <= content_end) return;
    // Part of the line's end was taken for part of the line.
    ++at;
  }
  line_ = batch_.size();
}

bool LineBatcher::Take(CollectedLines& lines) {
  const size_t count = LinesThatFit(lines);
  if (count == 0) return false;
  const size_t begin = batch_.raw_offset(line_);
  const size_t size = batch_.raw_offset(line_ + count) - begin;
  if (lines.bytes == nullptr) {
    lines.bytes.reset(new char[std::max<size_t>(size, options_.batch_bytes)]);
    lines.offset = batch_.offset() + begin;
  }
  std::memcpy(lines.bytes.get() + lines.size, batch_.raw().data() + begin,
              size);
  lines.size += size;
  lines.lines += count;
  lines_left_ -= count;
  if (options_.lengths) {
    size_t last = begin;
    for (size_t i = line_ + 1; i <= line_ + count; ++i) {
      const size_t next = batch_.raw_offset(i);
      lines.lengths.push_back(next - last);
      last = next;
    }
  }
  if (!options_.contains.empty()) {
    lines.offsets.push_back(batch_.offset() + begin);
  }
  line_ += count;
  lines.unterminated = line_ == batch_.size() && batch_.unterminated();
  return true;
}

size_t LineBatcher::LinesThatFit(const CollectedLines& lines) const {
  const size_t begin = batch_.raw_offset(line_);
  const int64_t room = options_.batch_bytes - lines.size;
  size_t most = std::min<int64_t>(batch_.size() - line_, lines_left_);
  // The lines wanted do not lie side by side.
  if (!options_.contains.empty()) most = 1;
  size_t low = 0;
  size_t high = most;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    const int64_t size = batch_.raw_offset(line_ + middle) - begin;
    if (size <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low == 0 && lines.size == 0 ? 1 : low;
}

}  // namespace bimbackup::file_scan::reader
