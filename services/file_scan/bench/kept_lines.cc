#include "services/file_scan/bench/kept_lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace bimbackup::file_scan::bench {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

}  // namespace

void KeptLines::AddCopies(const reader::LineBatch& batch) {
  for (size_t i = 0; i < batch.size();) {
    const size_t count = MakeRoom(batch, i);
    for (const size_t end = i + count; i < end; ++i) {
      const absl::string_view line = batch.line(i);
      char* copy = Allocate(line.size());
      std::memcpy(copy, line.data(), line.size());
      lines_.emplace_back(copy, line.size());
    }
  }
}

void KeptLines::AddViews(const reader::LineBatch& batch,
                         std::shared_ptr<const void> memory) {
  if (memory == nullptr) {
    AddCopies(batch);
    return;
  }
  for (size_t i = 0; i < batch.size();) {
    const size_t count = MakeRoom(batch, i);
    if (shared_.empty() || shared_.back() != memory) {
      shared_.push_back(memory);
    }
    for (const size_t end = i + count; i < end; ++i) {
      lines_.push_back(batch.line(i));
    }
  }
}

size_t KeptLines::MakeRoom(const reader::LineBatch& batch, size_t first) {
  if (lines_.size() == kMaxLines || bytes_ >= kMaxBytes) Clear();
  const size_t most = std::min(batch.size() - first, kMaxLines - lines_.size());
  size_t count = 0;
  const size_t begin = batch.raw_offset(first);
  if (batch.raw().size() - begin <= kMaxBytes - bytes_) {
    count = most;
  } else {
    // Up to and with the line that passes the limit.
    do {
      ++count;
    } while (count < most &&
             batch.raw_offset(first + count) - begin < kMaxBytes - bytes_);
  }
  bytes_ += batch.raw_offset(first + count) - begin;
  added_ += count;
  return count;
}

void KeptLines::Clear() {
  lines_.clear();
  shared_.clear();
  bytes_ = 0;
  blocks_used_ = 0;
  block_left_ = 0;
  ++cleared_;
}

char* KeptLines::Allocate(size_t size) {
  if (size > kBlockBytes) {
    auto large = std::shared_ptr<char[]>(new char[size]);
    shared_.push_back(large);
    return large.get();
  }
  if (size > block_left_) {
    if (blocks_used_ == blocks_.size()) {
      blocks_.emplace_back(new char[kBlockBytes]);
    }
    next_ = blocks_[blocks_used_++].get();
    block_left_ = kBlockBytes;
  }
  block_left_ -= size;
  return std::exchange(next_, next_ + size);
}

}  // namespace bimbackup::file_scan::bench
