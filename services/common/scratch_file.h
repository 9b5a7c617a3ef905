// A file without a name, for what is too much to be kept in memory.

#ifndef SERVICES_COMMON_SCRATCH_FILE_H_
#define SERVICES_COMMON_SCRATCH_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup {

// Gone with its owner, also when the process dies. Not thread-safe.
class ScratchFile {
 public:
  // Makes one in `folder`. UNAVAILABLE where it cannot.
  static absl::StatusOr<std::unique_ptr<ScratchFile>> Create(
      const std::string& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Returns the offset at which the bytes stand. RESOURCE_EXHAUSTED when the
  // disk is full.
  absl::StatusOr<int64_t> Append(absl::string_view bytes);

  // Reads just `size` bytes, which were written.
  absl::Status ReadAt(int64_t offset, char* buffer, size_t size) const;

 private:
  explicit ScratchFile(int fd) : fd_(fd) {}

  const int fd_;
  int64_t size_ = 0;
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_SCRATCH_FILE_H_
