#include "clients/storage/local/file_cloner.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/local/posix_file.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

struct ModeName {
  LatestMode mode;
  absl::string_view name;
};
constexpr std::array<ModeName, 5> kModes = {{
    {LatestMode::kAuto, "auto"},
    {LatestMode::kReflink, "reflink"},
    {LatestMode::kHardlink, "hardlink"},
    {LatestMode::kCopy, "copy"},
    {LatestMode::kOff, "off"},
}};

// A temporary name that is gone, one way or the other, at the end.
class TemporaryName {
 public:
  explicit TemporaryName(int folder)
      : folder_(folder), name_(UniqueTemporaryName("view")) {}
  // Also after a move: moving one link of a file over another of the same
  // file leaves both.
  ~TemporaryName() { unlinkat(folder_, name_.c_str(), 0); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const std::string& name() const { return name_; }

 private:
  const int folder_;
  const std::string name_;
};

absl::Status SetModified(int fd, absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) {
    return absl::OkStatus();
  }
  const timespec times[2] = {{0, UTIME_OMIT}, absl::ToTimespec(time)};
  if (futimens(fd, times) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "set the time of", "a file of the latest view");
}

absl::Status CopyBytes(int from, int to) {
  std::string buffer(kCopyBytes, '\0');
  for (int64_t offset = 0;;) {
    ABSL_ASSIGN_OR_RETURN(
        const size_t got,
        ReadUpToAt(from, offset, buffer.data(), buffer.size()));
    if (got == 0) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(
        WriteAllAt(to, offset, absl::string_view(buffer.data(), got)));
    offset += static_cast<int64_t>(got);
  }
}

// Whether a small file can be reflinked, or linked, here.
absl::StatusOr<std::pair<bool, bool>> ProbeClones(int folder) {
  const TemporaryName from(folder);
  const TemporaryName clone(folder);
  const TemporaryName link(folder);
  constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR;
  ABSL_ASSIGN_OR_RETURN(const UniqueFd from_fd,
                        OpenAt(folder, from.name(), kFlags, 0600));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd clone_fd,
                        OpenAt(folder, clone.name(), kFlags, 0600));
  ABSL_RETURN_IF_ERROR(WriteAllAt(from_fd.get(), 0, std::string(4096, 'x')));
  const bool reflinks = ioctl(clone_fd.get(), FICLONE, from_fd.get()) == 0;
  const bool links =
      linkat(folder, from.name().c_str(), folder, link.name().c_str(), 0) == 0;
  return std::make_pair(reflinks, links);
}

}  // namespace

absl::StatusOr<LatestMode> ParseLatestMode(absl::string_view name) {
  for (const ModeName& mode : kModes) {
    if (mode.name == name) return mode.mode;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("latest view '", name,
                   "' is none of auto, reflink, hardlink, copy, off"));
}

absl::StatusOr<LatestMode> FileCloner::Probe(const StorageFolders& folders,
                                             LatestMode mode) {
  if (mode == LatestMode::kCopy) return mode;
  ABSL_ASSIGN_OR_RETURN(const auto can, ProbeClones(folders.temporary.get()));
  const auto [reflinks, links] = can;
  if (reflinks && mode != LatestMode::kHardlink) return LatestMode::kReflink;
  if (links && mode != LatestMode::kReflink) return LatestMode::kHardlink;
  const std::string message = absl::StrCat(
      "the storage's file system has no ",
      mode == LatestMode::kAuto      ? "reflinks and no hard links"
      : mode == LatestMode::kReflink ? "reflinks"
                                     : "hard links",
      " for the latest view: choose --latest=copy or --latest=off");
  if (mode == LatestMode::kAuto) return absl::UnimplementedError(message);
  return absl::FailedPreconditionError(message);
}

absl::Status FileCloner::Clone(absl::string_view sha256,
                               absl::Time last_modified, int folder,
                               const std::string& name) {
  const std::string key = BlobKey(sha256);
  switch (mode_) {
    case LatestMode::kHardlink:
      return Link(key, last_modified, folder, name);
    case LatestMode::kReflink:
      return CopyTo(key, last_modified, folder, name, /*reflink=*/true);
    default:
      return CopyTo(key, last_modified, folder, name, /*reflink=*/false);
  }
}

absl::Status FileCloner::Link(const std::string& key, absl::Time last_modified,
                              int folder, const std::string& name) {
  const int root = folders_.root.get();
  ABSL_ASSIGN_OR_RETURN(const struct stat blob, StatAt(root, key));
  const absl::StatusOr<struct stat> there = StatAt(folder, name);
  if (there.ok() && there->st_ino == blob.st_ino &&
      there->st_dev == blob.st_dev) {
    return absl::OkStatus();
  }
  if (blob.st_nlink == 1) {
    // The first to show this blob: no other file's time changes.
    ABSL_ASSIGN_OR_RETURN(const UniqueFd file, OpenAt(root, key, O_RDONLY));
    ABSL_RETURN_IF_ERROR(SetModified(file.get(), last_modified));
  }
  const TemporaryName temporary(folders_.temporary.get());
  if (linkat(root, key.c_str(), folders_.temporary.get(),
             temporary.name().c_str(), 0) != 0) {
    if (errno == EMLINK) {
      return CopyWithoutLinks(key, last_modified, folder, name);
    }
    return ErrnoStatus(errno, "link", key);
  }
  return Replace(temporary.name(), folder, name);
}

absl::Status FileCloner::CopyWithoutLinks(const std::string& key,
                                          absl::Time last_modified, int folder,
                                          const std::string& name) {
  if (!warned_) {
    spdlog::warn(
        "{} has no hard link left to give: it, and others like it, are "
        "reflinked or copied into the latest view",
        key);
    warned_ = true;
  }
  if (CopyTo(key, last_modified, folder, name, /*reflink=*/true).ok()) {
    return absl::OkStatus();
  }
  return CopyTo(key, last_modified, folder, name, /*reflink=*/false);
}

absl::Status FileCloner::CopyTo(const std::string& key,
                                absl::Time last_modified, int folder,
                                const std::string& name, bool reflink) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd from,
                        OpenAt(folders_.root.get(), key, O_RDONLY));
  const TemporaryName temporary(folders_.temporary.get());
  ABSL_ASSIGN_OR_RETURN(const UniqueFd to,
                        OpenAt(folders_.temporary.get(), temporary.name(),
                               O_CREAT | O_EXCL | O_WRONLY, 0444));
  if (!reflink) {
    ABSL_RETURN_IF_ERROR(CopyBytes(from.get(), to.get()));
  } else if (ioctl(to.get(), FICLONE, from.get()) != 0) {
    return ErrnoStatus(errno, "reflink", key);
  }
  ABSL_RETURN_IF_ERROR(SetModified(to.get(), last_modified));
  return Replace(temporary.name(), folder, name);
}

absl::Status FileCloner::Replace(const std::string& temporary, int folder,
                                 const std::string& name) {
  const auto move = [&] {
    return renameat(folders_.temporary.get(), temporary.c_str(), folder,
                    name.c_str());
  };
  if (move() == 0) return absl::OkStatus();
  if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) {
    if (unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("a folder stands where the file ", name, " belongs"));
    }
    if (move() == 0) return absl::OkStatus();
  }
  return ErrnoStatus(errno, "put into the latest view", name);
}

}  // namespace bimbackup::storage::local
