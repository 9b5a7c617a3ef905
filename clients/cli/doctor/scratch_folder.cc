#include "clients/cli/doctor/scratch_folder.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/time/clock.h"
#include "services/common/status_macros.h"

namespace bimbackup::cli::doctor {
namespace {

using storage::local::ErrnoStatus;
using storage::local::OpenAt;
using storage::local::OpenFolderAt;
using storage::local::UniqueFd;

constexpr char kFile[] = "a";
constexpr char kSecond[] = "b";

absl::StatusOr<UniqueFd> MakeFile(int folder, const char* name) {
  return OpenAt(folder, name, O_RDWR | O_CREAT, 0600);
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Make(const std::string& parent) {
  std::string path = parent + "/.bimbackup-doctor-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return ErrnoStatus(errno, "make a folder in", parent);
  }
  absl::StatusOr<UniqueFd> folder = OpenFolderAt(AT_FDCWD, path);
  if (!folder.ok()) {
    rmdir(path.c_str());
    return folder.status();
  }
  return ScratchFolder(std::move(path), *std::move(folder));
}

ScratchFolder::~ScratchFolder() {
  if (!folder_.valid()) return;
  unlinkat(folder_.get(), kFile, 0);
  unlinkat(folder_.get(), kSecond, 0);
  rmdir(path_.c_str());
}

absl::Status ScratchFolder::TryRename() {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file, MakeFile(folder_.get(), kFile));
  if (renameat(folder_.get(), kFile, folder_.get(), kSecond) != 0) {
    return ErrnoStatus(errno, "rename a file in", path_);
  }
  unlinkat(folder_.get(), kSecond, 0);
  return absl::OkStatus();
}

absl::Status ScratchFolder::TryHardLink() {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file, MakeFile(folder_.get(), kFile));
  if (linkat(folder_.get(), kFile, folder_.get(), kSecond, 0) != 0) {
    return ErrnoStatus(errno, "link a file in", path_);
  }
  unlinkat(folder_.get(), kSecond, 0);
  return absl::OkStatus();
}

absl::Status ScratchFolder::TryReflink() {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file, MakeFile(folder_.get(), kFile));
  ABSL_RETURN_IF_ERROR(storage::local::WriteAllAt(file.get(), 0, "bytes"));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd clone, MakeFile(folder_.get(), kSecond));
  const int error = ioctl(clone.get(), FICLONE, file.get()) == 0 ? 0 : errno;
  unlinkat(folder_.get(), kSecond, 0);
  if (error != 0) return ErrnoStatus(error, "reflink a file in", path_);
  return absl::OkStatus();
}

absl::Status ScratchFolder::TryLock() {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd first, MakeFile(folder_.get(), kFile));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd second, MakeFile(folder_.get(), kFile));
  if (flock(first.get(), LOCK_EX | LOCK_NB) != 0) {
    return ErrnoStatus(errno, "lock a file in", path_);
  }
  if (flock(second.get(), LOCK_EX | LOCK_NB) == 0) {
    return absl::UnavailableError("two holders got the same lock");
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> ScratchFolder::TimeSync() {
  const absl::Time start = absl::Now();
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file, MakeFile(folder_.get(), kFile));
  ABSL_RETURN_IF_ERROR(storage::local::WriteAllAt(file.get(), 0, "bytes"));
  ABSL_RETURN_IF_ERROR(storage::local::SyncAll(file.get()));
  ABSL_RETURN_IF_ERROR(storage::local::SyncAll(folder_.get()));
  return absl::Now() - start;
}

}  // namespace bimbackup::cli::doctor
