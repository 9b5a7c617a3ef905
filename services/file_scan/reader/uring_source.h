// Blocks read through io_uring.

#ifndef SERVICES_FILE_SCAN_READER_URING_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_URING_SOURCE_H_

#include <memory>

#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/reader/read_source.h"

namespace bimbackup::file_scan::reader {

// Two buffers: the kernel fills one while the user looks at the other. They
// are registered, where the limit of locked memory allows, which is what
// gains most.
class UringSource : public BlockSource {
 public:
  // UNAVAILABLE when io_uring cannot be used here, with the reason.
  static absl::StatusOr<std::unique_ptr<UringSource>> Create(
      std::shared_ptr<const InputFile> file, int64_t offset,
      int64_t buffer_bytes);

  // Waits for the read that may be in flight.
  ~UringSource() override;

  absl::StatusOr<absl::string_view> Next() override;
  ReadStats stats() const override { return {reads_, absl::ZeroDuration()}; }

 private:
  // The kernel's rings; hides liburing.h.
  struct Ring;

  // A buffer, and the read into it.
  struct Half {
    std::unique_ptr<BlockBuffer> buffer;
    int64_t offset = 0;
    size_t wanted = 0;
    size_t got = 0;
    bool in_flight = false;
  };

  UringSource(std::shared_ptr<const InputFile> file, int64_t offset,
              int64_t buffer_bytes, std::unique_ptr<Ring> ring);

  // Starts to read the file's next bytes into `half`.
  absl::Status Start(Half& half);
  // Asks for what is missing in `half`.
  absl::Status Submit(Half& half);
  // Waits for a completion and notes it.
  absl::Status Reap();
  // Waits until `half` is full.
  absl::Status Finish(Half& half);

  const std::shared_ptr<const InputFile> file_;
  const std::unique_ptr<Ring> ring_;
  Half halves_[2];
  int64_t next_offset_;
  // Which half the user gets next, and whether it has the other one.
  int next_half_ = 0;
  bool started_ = false;
  int64_t reads_ = 0;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_URING_SOURCE_H_
