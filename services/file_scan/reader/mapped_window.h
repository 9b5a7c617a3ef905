// A piece of a file mapped into memory, safe from SIGBUS.

#ifndef SERVICES_FILE_SCAN_READER_MAPPED_WINDOW_H_
#define SERVICES_FILE_SCAN_READER_MAPPED_WINDOW_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/file_scan/reader/input_file.h"

namespace bimbackup::file_scan::reader {

// The window's place among what the signal handler looks through.
struct WindowSlot;

// Where a file shrinks, or cannot be read, touching its mapping raises
// SIGBUS. The first window of a process installs a handler that puts zeros in
// place of the missing pages and marks the window; a SIGBUS that concerns no
// window goes to whoever handled it before. Thread-safe, as bytes are.
class MappedWindow {
 public:
  // Maps [offset, offset + size) of `file`, which lie within its size.
  // RESOURCE_EXHAUSTED when kMaxWindows are mapped already.
  static absl::StatusOr<std::shared_ptr<MappedWindow>> Map(
      std::shared_ptr<const InputFile> file, int64_t offset, size_t size);

  // At most this many windows exist in the process.
  static constexpr int kMaxWindows = 4096;

  ~MappedWindow();
  MappedWindow(const MappedWindow&) = delete;
  MappedWindow& operator=(const MappedWindow&) = delete;

  absl::string_view bytes() const { return bytes_; }

  // Whether all bytes were the file's until now. ABORTED when it has become
  // too short for them, or what reading the missing ones answers.
  absl::Status Check() const;

 private:
  MappedWindow(std::shared_ptr<const InputFile> file, int64_t offset,
               absl::string_view mapping, absl::string_view bytes,
               WindowSlot* slot);

  const std::shared_ptr<const InputFile> file_;
  const int64_t offset_;
  const absl::string_view mapping_;
  const absl::string_view bytes_;
  WindowSlot* const slot_;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_MAPPED_WINDOW_H_
