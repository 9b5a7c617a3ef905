#include "services/file_scan/reader/input_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace bimbackup::file_scan::reader {
namespace {

// Does not wait for a pipe's other end, nor become a terminal's owner.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// A rename elsewhere makes openat2 answer EAGAIN where a path goes upwards.
constexpr int kOpenAttempts = 8;

absl::Status NotRegular(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat("not a regular file: ", name));
}

absl::Status OpenError(int error, absl::string_view name) {
  switch (error) {
    case EXDEV:
    case ELOOP:
      return absl::PermissionDeniedError(
          absl::StrCat("a symbolic link leads out of the root: ", name));
    case ENOTDIR:
      return absl::NotFoundError(absl::StrCat("no such file: ", name));
    case ENXIO:
    case ENODEV:
      return NotRegular(name);
    default:
      return absl::ErrnoToStatus(error, absl::StrCat("cannot open ", name));
  }
}

int OpenBeneath(int root, const std::string& path) {
  open_how how{};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    const long fd = syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return -1;
}

// For kernels and engines without openat2: one name at a time, following no
// link at all. `path` holds no `..`.
int OpenWithoutLinks(int root, const std::string& path) {
  const std::vector<std::string> names =
      absl::StrSplit(path, '/', absl::SkipEmpty());
  int folder = root;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    const int flags = last ? kOpenFlags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    const int next = openat(folder, names[i].c_str(), flags | O_NOFOLLOW);
    const int error = errno;
    if (folder != root) close(folder);
    errno = error;
    if (next < 0 || last) return next;
    folder = next;
  }
  errno = EISDIR;
  return -1;
}

absl::Status CheckRelative(absl::string_view path) {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '/');
  bool good = !path.empty() && path.front() != '/' &&
              path.find('\0') == absl::string_view::npos;
  for (absl::string_view name : names) good = good && name != "..";
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the path must be relative to the root, without \"..\"");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const InputFile>> InputFile::Open(
    absl::string_view path) {
  const int fd =
      open(std::string(path.data(), path.size()).c_str(), kOpenFlags);
  if (fd < 0) return OpenError(errno, path);
  return Adopt(fd, path);
}

absl::StatusOr<std::shared_ptr<const InputFile>> InputFile::Adopt(
    int fd, absl::string_view name) {
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    const absl::Status status = OpenError(errno, name);
    close(fd);
    return status;
  }
  std::shared_ptr<const InputFile> file(new InputFile(fd, info.st_size, name));
  if (!S_ISREG(info.st_mode)) return NotRegular(name);
  // io_uring takes the flag for "fail rather than read from the disk".
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return file;
}

InputFile::~InputFile() { close(fd_); }

absl::StatusOr<size_t> InputFile::ReadAt(int64_t offset, char* data,
                                         size_t size, int64_t& reads) const {
  size_t done = 0;
  while (done < size) {
    ++reads;
    const ssize_t got = pread(fd_, data + done, size - done, offset + done);
    if (got < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", name_));
    }
    if (got == 0) break;
    done += got;
  }
  return done;
}

absl::Status InputFile::CheckSize(int64_t size) const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot stat ", name_));
  }
  return info.st_size < size ? Shrunk(info.st_size) : absl::OkStatus();
}

absl::Status InputFile::Shrunk(int64_t end) const {
  return absl::AbortedError(absl::StrCat(name_, " shrank from ", size_, " to ",
                                         end, " bytes while it was read"));
}

absl::StatusOr<std::unique_ptr<RootFolder>> RootFolder::Open(
    absl::string_view path) {
  const int fd = open(std::string(path.data(), path.size()).c_str(),
                      O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOTDIR) {
    return absl::InvalidArgumentError(absl::StrCat("not a folder: ", path));
  }
  if (fd < 0) return OpenError(errno, path);
  return std::unique_ptr<RootFolder>(new RootFolder(fd));
}

RootFolder::~RootFolder() { close(fd_); }

absl::StatusOr<std::shared_ptr<const InputFile>> RootFolder::OpenFile(
    absl::string_view path) const {
  if (absl::Status status = CheckRelative(path); !status.ok()) return status;
  const std::string name(path.data(), path.size());
  int fd = OpenBeneath(fd_, name);
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
    fd = OpenWithoutLinks(fd_, name);
  }
  if (fd < 0) return OpenError(errno, path);
  return InputFile::Adopt(fd, path);
}

}  // namespace bimbackup::file_scan::reader
