#include "services/file_scan/reader/read_source.h"

#include <algorithm>
#include <new>
#include <utility>

#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr std::align_val_t kAlignment{4096};

}  // namespace

BlockBuffer::BlockBuffer(size_t size)
    : data_(static_cast<char*>(::operator new(size, kAlignment))),
      size_(size) {}

BlockBuffer::~BlockBuffer() { ::operator delete(data_, kAlignment); }

const std::shared_ptr<BlockBuffer>& BlockBufferPool::Take() {
  for (const std::shared_ptr<BlockBuffer>& buffer : buffers_) {
    if (buffer.use_count() == 1) return buffer;
  }
  return buffers_.emplace_back(std::make_shared<BlockBuffer>(buffer_bytes_));
}

ReadSource::ReadSource(std::shared_ptr<const InputFile> file, int64_t offset,
                       int64_t buffer_bytes)
    : file_(std::move(file)), offset_(offset), pool_(buffer_bytes) {}

absl::StatusOr<absl::string_view> ReadSource::Next() {
  buffer_.reset();
  buffer_ = pool_.Take();
  const size_t wanted =
      std::min<int64_t>(buffer_->size(), file_->size() - offset_);
  ABSL_ASSIGN_OR_RETURN(
      const size_t got,
      file_->ReadAt(offset_, buffer_->data(), wanted, reads_));
  if (got < wanted) return file_->Shrunk(offset_ + got);
  offset_ += got;
  return absl::string_view(buffer_->data(), got);
}

}  // namespace bimbackup::file_scan::reader
