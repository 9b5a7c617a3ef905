// Blocks that are windows of the mapped file.

#ifndef SERVICES_FILE_SCAN_READER_MAPPED_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_MAPPED_SOURCE_H_

#include <memory>

#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/reader/mapped_window.h"

namespace bimbackup::file_scan::reader {

// Maps a window at a time, all of `window_bytes` (a multiple of the page) and
// aligned to that in the file, so that the kernel can map large pages whole.
class MappedSource : public BlockSource {
 public:
  MappedSource(std::shared_ptr<const InputFile> file, int64_t offset,
               int64_t window_bytes);

  absl::StatusOr<absl::string_view> Next() override;
  std::shared_ptr<const void> Share() const override { return window_; }
  absl::Status Check() override;
  ReadStats stats() const override { return {windows_, absl::ZeroDuration()}; }

 private:
  const std::shared_ptr<const InputFile> file_;
  int64_t offset_;
  const int64_t window_bytes_;
  std::shared_ptr<MappedWindow> window_;
  int64_t windows_ = 0;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_MAPPED_SOURCE_H_
