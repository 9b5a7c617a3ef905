#include "clients/storage/local/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return absl::StatusCode::kResourceExhausted;
    // This file's fault, not the disk's: waiting for room would not help.
    case EFBIG:
    case ENAMETOOLONG:
      return absl::StatusCode::kInvalidArgument;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

bool IsUnsupported(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP ||
         error == EPERM;
}

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

absl::Status ErrnoStatus(int error, absl::string_view action,
                         absl::string_view path) {
  char buffer[128];
  return absl::Status(CodeOf(error),
                      absl::StrCat("cannot ", action, " ", path, ": ",
                                   strerror_r(error, buffer, sizeof buffer)));
}

absl::StatusOr<UniqueFd> OpenAt(int folder, const std::string& path, int flags,
                                mode_t mode) {
  int fd;
  do {
    fd = openat(folder, path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  return UniqueFd(fd);
}

absl::StatusOr<UniqueFd> OpenFolderAt(int folder, const std::string& path) {
  return OpenAt(folder, path, O_RDONLY | O_DIRECTORY);
}

absl::Status MakeFolderAt(int folder, const std::string& path) {
  if (mkdirat(folder, path.c_str(), 0755) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, "make folder", path);
}

absl::StatusOr<struct stat> StatAt(int folder, const std::string& path) {
  struct stat info;
  if (fstatat(folder, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(errno, "look at", path);
  }
  return info;
}

bool IsSameMount(int a, int b) {
  constexpr unsigned kMask = STATX_INO | STATX_MNT_ID;
  struct statx first;
  struct statx second;
  if (statx(a, "", AT_EMPTY_PATH, kMask, &first) != 0 ||
      statx(b, "", AT_EMPTY_PATH, kMask, &second) != 0) {
    return false;
  }
  return first.stx_ino == second.stx_ino &&
         first.stx_dev_major == second.stx_dev_major &&
         first.stx_dev_minor == second.stx_dev_minor &&
         first.stx_mnt_id == second.stx_mnt_id;
}

absl::Status WriteAllAt(int fd, int64_t offset, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "write to", "the storage");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReadUpToAt(int fd, int64_t offset, char* buffer,
                                  size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(fd, buffer + done, size - done,
                              offset + static_cast<int64_t>(done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, "read from", "the storage");
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

absl::StatusOr<std::string> ReadSmallFile(int fd, size_t limit) {
  std::string text(limit + 1, '\0');
  ABSL_ASSIGN_OR_RETURN(const size_t size,
                        ReadUpToAt(fd, 0, text.data(), text.size()));
  if (size > limit) {
    return absl::OutOfRangeError(
        absl::StrCat("a file of the storage is over ", limit, " bytes long"));
  }
  text.resize(size);
  return text;
}

absl::Status SyncData(int fd) {
  if (fdatasync(fd) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "make durable", "a file of the storage");
}

absl::Status SyncAll(int fd) {
  if (fsync(fd) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "make durable", "a folder of the storage");
}

absl::Status SyncFileSystem(int fd) {
  if (syncfs(fd) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "make durable", "the storage");
}

bool SyncReachesDisk(int64_t file_system_type) {
  constexpr int64_t kZfs = 0x2FC12FC1;  // Has no name in linux/magic.h.
  switch (file_system_type) {
    case EXT4_SUPER_MAGIC:  // ext2 and ext3 as well
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case kZfs:
      return true;
    default:
      return false;
  }
}

int64_t FileSystemType(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return 0;
  // Some are 32 bits and negative where long is that wide.
  return static_cast<uint32_t>(info.f_type);
}

absl::Status MoveWithoutReplacing(int from_folder, const std::string& from,
                                  int to_folder, const std::string& to) {
  if (renameat2(from_folder, from.c_str(), to_folder, to.c_str(),
                RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  if (!IsUnsupported(errno)) return ErrnoStatus(errno, "move to", to);
  // NFS and others: a link replaces nothing either.
  if (linkat(from_folder, from.c_str(), to_folder, to.c_str(), 0) == 0) {
    unlinkat(from_folder, from.c_str(), 0);
    return absl::OkStatus();
  }
  if (!IsUnsupported(errno)) return ErrnoStatus(errno, "move to", to);
  // Neither (exFAT, some shares): names are digests or unique, so the moment
  // between the look and the move can at worst replace a file by its equal.
  if (StatAt(to_folder, to).ok()) {
    return absl::AlreadyExistsError(absl::StrCat(to, " exists"));
  }
  if (renameat(from_folder, from.c_str(), to_folder, to.c_str()) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, "move to", to);
}

absl::Status VisitFolder(int folder, const std::string& path,
                         const std::function<bool(absl::string_view name,
                                                  unsigned char type)>& visit) {
  const int fd =
      openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "list", path);
  std::unique_ptr<DIR, CloseDir> dir(fdopendir(fd));
  if (dir == nullptr) {
    const int error = errno;
    close(fd);
    return ErrnoStatus(error, "list", path);
  }
  errno = 0;
  while (const dirent* entry = readdir(dir.get())) {
    const absl::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit(name, entry->d_type)) return absl::OkStatus();
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(errno, "list", path);
  return absl::OkStatus();
}

}  // namespace bimbackup::storage::local
