// Blocks decompressed from those of another source.

#ifndef SERVICES_FILE_SCAN_READER_ZSTD_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_ZSTD_SOURCE_H_

#include <memory>
#include <string>

#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/read_source.h"

struct ZSTD_DCtx_s;

namespace bimbackup::file_scan::reader {

// Decompresses Zstandard frames, one after the other, to the last byte of
// `compressed`; skips what is before `start_offset`, which counts
// decompressed bytes. DATA_LOSS for data that is not Zstandard, is damaged or
// cut short, or asks for a window over 128 MiB; OUT_OF_RANGE when there are
// fewer bytes than `start_offset`.
class ZstdSource : public BlockSource {
 public:
  ZstdSource(std::unique_ptr<BlockSource> compressed, std::string name,
             int64_t start_offset, int64_t buffer_bytes);

  absl::StatusOr<absl::string_view> Next() override;
  std::shared_ptr<const void> Share() const override { return buffer_; }
  ReadStats stats() const override { return compressed_->stats(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  absl::StatusOr<absl::string_view> Fill();
  // Gets more compressed bytes where there are none; false at their end.
  absl::StatusOr<bool> Refill();

  const std::unique_ptr<BlockSource> compressed_;
  const std::string name_;
  const std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  int64_t to_skip_;
  BlockBufferPool pool_;
  std::shared_ptr<BlockBuffer> buffer_;
  absl::string_view input_;
  // Whether a frame has begun and not ended.
  bool in_frame_ = false;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_ZSTD_SOURCE_H_
