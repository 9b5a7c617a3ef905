#include "clients/restore/partial_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::local::ErrnoStatus;
using storage::local::UniqueFd;

constexpr size_t kBufferBytes = size_t{1} << 20;
// How often a file may go from under us between open and lock.
constexpr int kMaxTries = 5;

// A folder as messages name it.
std::string Describe(const Folder& folder) {
  return folder.path().empty() ? "the destination" : folder.path();
}

// Whether the name still leads to the open file, and no other name does:
// somebody else's hard link would be written through.
bool IsOurs(int folder, const std::string& name, int file, struct stat& info) {
  struct stat named;
  return fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_nlink == 1 &&
         fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         named.st_ino == info.st_ino && named.st_dev == info.st_dev;
}

}  // namespace

std::string PartialName(absl::string_view name, absl::string_view sha256) {
  return absl::StrCat(".bimbackup-restore-",
                      Sha256Hex(absl::StrCat(sha256, "/", name)).substr(0, 24));
}

absl::StatusOr<PartialFile> PartialFile::Open(std::shared_ptr<Folder> folder,
                                              std::string name) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    UniqueFd file(openat(folder->fd(), name.c_str(),
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                         0666));
    if (!file.valid() && errno != ELOOP) {
      return ErrnoStatus(errno, "make a file in", Describe(*folder));
    }
    if (file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      return absl::AbortedError("another restore is writing it");
    }
    struct stat info;
    if (file.valid() && IsOurs(folder->fd(), name, file.get(), info)) {
      return PartialFile(std::move(folder), std::move(name), std::move(file),
                         info.st_size);
    }
    // A link or the like, which nobody but us has a use for.
    unlinkat(folder->fd(), name.c_str(), 0);
  }
  return absl::UnavailableError(
      absl::StrCat("cannot make a file in ", Describe(*folder)));
}

absl::Status PartialFile::AddTo(Digest& digest) {
  std::string buffer(kBufferBytes, '\0');
  for (int64_t offset = 0; offset < size_;) {
    const ssize_t got =
        pread(file_.get(), buffer.data(), buffer.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return ErrnoStatus(got < 0 ? errno : EIO, "read back",
                         folder_->PathOf(name_));
    }
    digest.Update(absl::string_view(buffer.data(), static_cast<size_t>(got)));
    offset += got;
  }
  return absl::OkStatus();
}

absl::Status PartialFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(file_.get(), bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return ErrnoStatus(errno, "write into", Describe(*folder_));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    size_ += written;
  }
  return absl::OkStatus();
}

absl::Status PartialFile::Clear() {
  if (ftruncate(file_.get(), 0) != 0) {
    return ErrnoStatus(errno, "empty", folder_->PathOf(name_));
  }
  size_ = 0;
  return absl::OkStatus();
}

absl::Status PartialFile::SetTime(absl::Time time) {
  const timespec times[] = {{0, UTIME_OMIT}, absl::ToTimespec(time)};
  if (futimens(file_.get(), times) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "set the time of", folder_->PathOf(name_));
}

absl::Status PartialFile::Sync() {
  if (fsync(file_.get()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "make durable", folder_->PathOf(name_));
}

absl::Status PartialFile::Place(const std::string& name, bool replace) {
  if (!replace) {
    return storage::local::MoveWithoutReplacing(folder_->fd(), name_,
                                                folder_->fd(), name);
  }
  if (renameat(folder_->fd(), name_.c_str(), folder_->fd(), name.c_str()) ==
      0) {
    return absl::OkStatus();
  }
  if (errno == EISDIR) {
    return absl::FailedPreconditionError("a folder stands in its place");
  }
  return ErrnoStatus(errno, "name a file", folder_->PathOf(name));
}

void PartialFile::Remove() { unlinkat(folder_->fd(), name_.c_str(), 0); }

}  // namespace bimbackup::restore
