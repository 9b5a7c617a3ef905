#include "clients/storage/local/temporary_blob.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/storage/local/layout.h"
#include "services/common/digest.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

// More workers than this never hold leases of one storage object at a time.
constexpr int kMaxHolders = 16;

std::string PartName(absl::string_view storage_urn, int holder) {
  const std::string hash = Sha256Hex(storage_urn).substr(0, 32);
  return holder == 0 ? absl::StrCat(hash, ".part")
                     : absl::StrCat(hash, "-", holder, ".part");
}

}  // namespace

bool IsStillNamed(int fd, int folder, const std::string& name) {
  struct stat held;
  if (fstat(fd, &held) != 0) return false;
  const absl::StatusOr<struct stat> named = StatAt(folder, name);
  return named.ok() && named->st_ino == held.st_ino &&
         named->st_dev == held.st_dev;
}

absl::StatusOr<bool> TryLock(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  return ErrnoStatus(errno, "lock", "a temporary file");
}

absl::StatusOr<UniqueFd> TemporaryBlob::TryHold(int folder,
                                                const std::string& name) {
  absl::StatusOr<UniqueFd> file =
      OpenAt(folder, name, O_CREAT | O_RDWR | O_NOFOLLOW, 0644);
  // Another user's, or just turned into a blob: as good as held.
  if (absl::IsPermissionDenied(file.status()) && StatAt(folder, name).ok()) {
    return UniqueFd();
  }
  ABSL_RETURN_IF_ERROR(file.status());
  ABSL_ASSIGN_OR_RETURN(const bool locked, TryLock(file->get()));
  if (!locked || !IsStillNamed(file->get(), folder, name)) return UniqueFd();
  return file;
}

absl::StatusOr<std::unique_ptr<TemporaryBlob>> TemporaryBlob::Open(
    int temporary_folder, absl::string_view storage_urn) {
  for (int holder = 0; holder < kMaxHolders; ++holder) {
    std::string name = PartName(storage_urn, holder);
    ABSL_ASSIGN_OR_RETURN(UniqueFd file, TryHold(temporary_folder, name));
    if (file.valid()) {
      return absl::WrapUnique(new TemporaryBlob(
          temporary_folder, std::move(name), std::move(file)));
    }
  }
  return absl::UnavailableError(
      absl::StrCat("all ", kMaxHolders, " temporary files of a storage object ",
                   "are held by others"));
}

TemporaryBlob::~TemporaryBlob() {
  if (kept_ || moved_) return;
  unlinkat(folder_, journal_name().c_str(), 0);
  unlinkat(folder_, name_.c_str(), 0);
}

absl::Status TemporaryBlob::MoveTo(int root, absl::string_view sha256,
                                   int64_t size) {
  // Where the storage was mounted anew the name may be another's by now.
  if (!IsStillNamed(fd(), folder_, name_)) {
    return absl::UnavailableError(
        absl::StrCat(name_, " is no longer in the storage"));
  }
  if (kept_) unlinkat(folder_, journal_name().c_str(), 0);
  if (fchmod(fd(), 0444) != 0) return ErrnoStatus(errno, "protect", name_);
  const std::string key = BlobKey(sha256);
  absl::Status moved = MoveWithoutReplacing(folder_, name_, root, key);
  if (absl::IsNotFound(moved)) {
    ABSL_RETURN_IF_ERROR(MakeFolderAt(root, key.substr(0, key.rfind('/'))));
    moved = MoveWithoutReplacing(folder_, name_, root, key);
  }
  if (absl::IsAlreadyExists(moved)) {
    ABSL_ASSIGN_OR_RETURN(const struct stat existing, StatAt(root, key));
    if (existing.st_size == size) {
      kept_ = false;
      return absl::OkStatus();
    }
    spdlog::warn("blob {} had {} bytes instead of {}: replaced", sha256,
                 existing.st_size, size);
    moved = renameat(folder_, name_.c_str(), root, key.c_str()) == 0
                ? absl::OkStatus()
                : ErrnoStatus(errno, "replace", key);
  }
  moved_ = moved.ok();
  return moved;
}

}  // namespace bimbackup::storage::local
