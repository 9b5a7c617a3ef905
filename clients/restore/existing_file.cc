#include "clients/restore/existing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "clients/storage/local/posix_file.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::local::ErrnoStatus;
using storage::local::UniqueFd;

constexpr size_t kBufferBytes = size_t{1} << 20;

bool HasTime(const struct stat& info, absl::Time time) {
  if (time == absl::InfinitePast()) return false;
  const timespec wanted = absl::ToTimespec(time);
  return info.st_mtim.tv_sec == wanted.tv_sec &&
         info.st_mtim.tv_nsec == wanted.tv_nsec;
}

absl::StatusOr<std::string> DigestOf(const Folder& folder,
                                     const std::string& name) {
  const UniqueFd file(openat(folder.fd(), name.c_str(),
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "read", folder.PathOf(name));
  Digest digest(DigestKind::kSha256);
  std::string buffer(kBufferBytes, '\0');
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "read", folder.PathOf(name));
    if (got == 0) return digest.FinishHex();
    digest.Update(absl::string_view(buffer.data(), static_cast<size_t>(got)));
  }
}

}  // namespace

absl::StatusOr<Existing> LookAtExisting(
    const Folder& folder, const std::string& name,
    const storage::format::ManifestEntry& entry) {
  struct stat info;
  if (!folder.exists() ||
      fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (!folder.exists() || errno == ENOENT) return Existing::kNothing;
    return ErrnoStatus(errno, "look at", folder.PathOf(name));
  }
  if (!S_ISREG(info.st_mode)) return Existing::kOther;
  if (entry.size.has_value() && info.st_size != *entry.size) {
    return Existing::kOther;
  }
  if (entry.size.has_value() && HasTime(info, entry.last_modified)) {
    return Existing::kSame;
  }
  ABSL_ASSIGN_OR_RETURN(const std::string digest, DigestOf(folder, name));
  return digest == entry.sha256 ? Existing::kSameBytes : Existing::kOther;
}

bool IsTaken(const Folder& folder, const std::string& name) {
  struct stat info;
  return folder.exists() &&
         fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

absl::Status SetExistingTime(const Folder& folder, const std::string& name,
                             absl::Time time) {
  const timespec times[] = {{0, UTIME_OMIT}, absl::ToTimespec(time)};
  if (utimensat(folder.fd(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, "set the time of", folder.PathOf(name));
}

}  // namespace bimbackup::restore
