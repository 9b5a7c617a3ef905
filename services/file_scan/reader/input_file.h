// An open file to read lines from, and the folder that bounds which.

#ifndef SERVICES_FILE_SCAN_READER_INPUT_FILE_H_
#define SERVICES_FILE_SCAN_READER_INPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::file_scan::reader {

// A regular file, open for reading. Immutable; shared by readers and their
// threads.
class InputFile {
 public:
  // NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT for what is not a regular
  // file.
  static absl::StatusOr<std::shared_ptr<const InputFile>> Open(
      absl::string_view path);

  // Takes `fd` over, also when this fails; `name` is for messages.
  static absl::StatusOr<std::shared_ptr<const InputFile>> Adopt(
      int fd, absl::string_view name);

  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int fd() const { return fd_; }
  // As it was when the file was opened, in bytes.
  int64_t size() const { return size_; }
  const std::string& name() const { return name_; }

  // Reads up to `size` bytes at `offset`; fewer only at the file's end. Adds
  // the system calls made to `reads`.
  absl::StatusOr<size_t> ReadAt(int64_t offset, char* data, size_t size,
                                int64_t& reads) const;

  // ABORTED when the file has become shorter than `size` bytes.
  absl::Status CheckSize(int64_t size) const;

  // The ABORTED of a file that ends at `end`, before its size.
  absl::Status Shrunk(int64_t end) const;

 private:
  InputFile(int fd, int64_t size, absl::string_view name)
      : fd_(fd), size_(size), name_(name.data(), name.size()) {}

  const int fd_;
  const int64_t size_;
  const std::string name_;
};

// A folder that files are opened beneath. Thread-safe.
class RootFolder {
 public:
  // NOT_FOUND, or INVALID_ARGUMENT when `path` is not a folder.
  static absl::StatusOr<std::unique_ptr<RootFolder>> Open(
      absl::string_view path);

  ~RootFolder();
  RootFolder(const RootFolder&) = delete;
  RootFolder& operator=(const RootFolder&) = delete;

  // Opens the regular file `path`, relative to this folder. INVALID_ARGUMENT
  // for an absolute path, one with `..`, and what is not a regular file;
  // PERMISSION_DENIED for a symbolic link that leads out of the folder, or
  // through another file system's magic, whatever is or is not there;
  // NOT_FOUND.
  absl::StatusOr<std::shared_ptr<const InputFile>> OpenFile(
      absl::string_view path) const;

 private:
  explicit RootFolder(int fd) : fd_(fd) {}

  const int fd_;
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_INPUT_FILE_H_
