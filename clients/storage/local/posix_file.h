// Thin wrappers over the file calls, so that the rest of the folder speaks
// in statuses and owns its descriptors.

#ifndef CLIENTS_STORAGE_LOCAL_POSIX_FILE_H_
#define CLIENTS_STORAGE_LOCAL_POSIX_FILE_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::storage::local {

// Owns a file descriptor; -1 for none. Movable.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// `error` as the storage seam's codes have it: RESOURCE_EXHAUSTED for a full
// disk or quota, PERMISSION_DENIED, NOT_FOUND, ALREADY_EXISTS,
// INVALID_ARGUMENT for a file or name that is too large for the file system,
// UNAVAILABLE for the rest. The message says what was tried on what, and why it
// failed.
absl::Status ErrnoStatus(int error, absl::string_view action,
                         absl::string_view path);

// openat(), close-on-exec, not interrupted by signals.
absl::StatusOr<UniqueFd> OpenAt(int folder, const std::string& path, int flags,
                                mode_t mode = 0);

// A folder, for the other calls' first argument.
absl::StatusOr<UniqueFd> OpenFolderAt(int folder, const std::string& path);

// Makes a folder; OK when there is one.
absl::Status MakeFolderAt(int folder, const std::string& path);

// fstatat() that follows no link at the end.
absl::StatusOr<struct stat> StatAt(int folder, const std::string& path);

// Whether two descriptors show the same folder through the same mount.
bool IsSameMount(int a, int b);

absl::Status WriteAllAt(int fd, int64_t offset, absl::string_view bytes);

// Reads until `size` bytes or the end; returns how many.
absl::StatusOr<size_t> ReadUpToAt(int fd, int64_t offset, char* buffer,
                                  size_t size);

// The whole of a small file, at most `limit` bytes: RESOURCE_EXHAUSTED is
// never returned, OUT_OF_RANGE is for a longer file.
absl::StatusOr<std::string> ReadSmallFile(int fd, size_t limit);

absl::Status SyncData(int fd);
absl::Status SyncAll(int fd);
// Everything of the file system that `fd` is on.
absl::Status SyncFileSystem(int fd);

// Whether syncfs() waits for the disk on file systems of this type (statfs's
// f_type): on local ones that are known to. Where another machine or process
// keeps the files (NFS, SMB, FUSE), it may end before they are durable.
bool SyncReachesDisk(int64_t file_system_type);
// The f_type of the file system that `fd` is on; 0, no type, on error.
int64_t FileSystemType(int fd);

// Moves a file where nothing has its new name; ALREADY_EXISTS otherwise, and
// the file stays where it was. On file systems that cannot do so in one step
// the file has both names for a moment.
absl::Status MoveWithoutReplacing(int from_folder, const std::string& from,
                                  int to_folder, const std::string& to);

// Calls `visit` with each name in a folder and its d_type, in no order, until
// it returns false.
absl::Status VisitFolder(int folder, const std::string& path,
                         const std::function<bool(absl::string_view name,
                                                  unsigned char type)>& visit);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_POSIX_FILE_H_
