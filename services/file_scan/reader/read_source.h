// Blocks read by the calling thread.

#ifndef SERVICES_FILE_SCAN_READER_READ_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_READ_SOURCE_H_

#include <memory>
#include <vector>

#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/input_file.h"

namespace bimbackup::file_scan::reader {

// Memory for one block, aligned to a page.
class BlockBuffer {
 public:
  explicit BlockBuffer(size_t size);
  ~BlockBuffer();
  BlockBuffer(const BlockBuffer&) = delete;
  BlockBuffer& operator=(const BlockBuffer&) = delete;

  char* data() { return data_; }
  size_t size() const { return size_; }

 private:
  char* const data_;
  const size_t size_;
};

// The buffers of one source: one, unless the user shares blocks.
class BlockBufferPool {
 public:
  explicit BlockBufferPool(size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  // A buffer that nobody outside shares, made where there is none. Lives as
  // long as the pool, and as long as it is shared.
  const std::shared_ptr<BlockBuffer>& Take();

 private:
  const size_t buffer_bytes_;
  std::vector<std::shared_ptr<BlockBuffer>> buffers_;
};

// Fills a buffer with one read a block.
class ReadSource : public BlockSource {
 public:
  ReadSource(std::shared_ptr<const InputFile> file, int64_t offset,
             int64_t buffer_bytes);

  absl::StatusOr<absl::string_view> Next() override;
  std::shared_ptr<const void> Share() const override { return buffer_; }
  ReadStats stats() const override { return {reads_, absl::ZeroDuration()}; }

 private:
  const std::shared_ptr<const InputFile> file_;
  int64_t offset_;
  BlockBufferPool pool_;
  std::shared_ptr<BlockBuffer> buffer_;
  int64_t reads_ = 0;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_READ_SOURCE_H_
