#include "services/common/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace bimbackup {
namespace {

absl::Status Failed(int error, absl::string_view action) {
  const std::string message =
      absl::StrCat("cannot ", action, " a scratch file: ", strerror(error));
  return error == ENOSPC || error == EDQUOT
             ? absl::ResourceExhaustedError(message)
             : absl::UnavailableError(message);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScratchFile>> ScratchFile::Create(
    const std::string& folder) {
  std::string name = absl::StrCat(folder, "/scratch-XXXXXX");
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return Failed(errno, absl::StrCat("make, in ", folder, ","));
  unlink(name.c_str());
  return absl::WrapUnique(new ScratchFile(fd));
}

ScratchFile::~ScratchFile() { close(fd_); }

absl::StatusOr<int64_t> ScratchFile::Append(absl::string_view bytes) {
  const int64_t begin = size_;
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(errno, "write to");
    size_ += written;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return begin;
}

absl::Status ScratchFile::ReadAt(int64_t offset, char* buffer,
                                 size_t size) const {
  while (size > 0) {
    const ssize_t got = pread(fd_, buffer, size, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failed(got < 0 ? errno : EIO, "read");
    offset += got;
    buffer += got;
    size -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace bimbackup
