#include "clients/restore/destination.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/restore/name_probe.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::local::ErrnoStatus;
using storage::local::UniqueFd;

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// A folder that the user named: links on the way to it are their choice.
absl::StatusOr<UniqueFd> OpenRoot(const std::string& path, bool dry_run) {
  if (!dry_run && mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "make the folder", path);
  }
  const int fd = open(path.c_str(), kFolderFlags);
  if (fd >= 0) return UniqueFd(fd);
  if (dry_run && errno == ENOENT) return UniqueFd();
  return ErrnoStatus(errno, "open the folder", path);
}

// A storage that is restored into would mix what it keeps with what people
// change.
absl::Status CheckOutsideStorage(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = fs::weakly_canonical(fs::absolute(path, error), error);
  while (!at.empty()) {
    if (fs::exists(at / "bimbackup.json", error) ||
        fs::exists(at / "blobs" / "sha256", error)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " lies in the storage ", at.string(),
                       "; restore into a folder outside it"));
    }
    if (at == at.parent_path()) break;
    at = at.parent_path();
  }
  return absl::OkStatus();
}

}  // namespace

Folder::~Folder() {
  if (!time_.has_value() || !fd_.valid()) return;
  const timespec times[] = {{0, UTIME_OMIT}, absl::ToTimespec(*time_)};
  // A folder with another time is whole all the same.
  (void)futimens(fd_.get(), times);
}

std::string Folder::PathOf(const std::string& name) const {
  return path_.empty() ? name : absl::StrCat(path_, "/", name);
}

Destination::Destination(std::shared_ptr<Folder> root, bool dry_run)
    : root_(std::move(root)),
      dry_run_(dry_run),
      syncs_at_once_(root_->exists() &&
                     storage::local::SyncReachesDisk(
                         storage::local::FileSystemType(root_->fd()))) {}

absl::StatusOr<std::unique_ptr<Destination>> Destination::Open(
    const std::string& path, bool dry_run) {
  ABSL_RETURN_IF_ERROR(CheckOutsideStorage(path));
  ABSL_ASSIGN_OR_RETURN(UniqueFd fd, OpenRoot(path, dry_run));
  auto destination = absl::WrapUnique(
      new Destination(std::make_shared<Folder>(std::move(fd), ""), dry_run));
  if (!dry_run) {
    ABSL_ASSIGN_OR_RETURN(destination->rules_,
                          ProbeNameRules(destination->root_->fd(), path));
  }
  return destination;
}

absl::StatusOr<std::shared_ptr<Folder>> Destination::OpenFolder(
    const Folder& parent, const std::string& name) const {
  const std::string path = parent.PathOf(name);
  if (!parent.exists()) return std::make_shared<Folder>(UniqueFd(), path);
  if (!dry_run_ && mkdirat(parent.fd(), name.c_str(), 0777) != 0 &&
      errno != EEXIST) {
    return ErrnoStatus(errno, "make the folder", path);
  }
  const int fd = openat(parent.fd(), name.c_str(), kFolderFlags | O_NOFOLLOW);
  if (fd >= 0) return std::make_shared<Folder>(UniqueFd(fd), path);
  if (dry_run_ && errno == ENOENT) {
    return std::make_shared<Folder>(UniqueFd(), path);
  }
  if (errno == ENOTDIR || errno == ELOOP) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a file or symbolic link stands in the place of the folder ", path));
  }
  return ErrnoStatus(errno, "open the folder", path);
}

absl::StatusOr<bool> Destination::SyncAtOnce() const {
  if (!syncs_at_once_) return false;
  if (syncfs(root_->fd()) != 0) {
    return ErrnoStatus(errno, "make durable", "what was restored");
  }
  return true;
}

}  // namespace bimbackup::restore
