#include "clients/storage/local/local_latest_view.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

constexpr char kLatest[] = "latest";
constexpr size_t kRemovedAtOnce = 1000;

absl::Status CheckPath(absl::string_view path) {
  if (IsSafeRelativePath(path)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", path, "' is no path of the latest view"));
}

// "a/b/c" into "a/b" and "c".
std::pair<absl::string_view, std::string> SplitLast(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return {"", std::string(path)};
  return {path.substr(0, slash), std::string(path.substr(slash + 1))};
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalLatestView>> LocalLatestView::Open(
    const StorageFolders& folders, LatestMode mode) {
  if (mode == LatestMode::kOff) {
    return absl::UnimplementedError("the latest view is turned off");
  }
  ABSL_ASSIGN_OR_RETURN(mode, FileCloner::Probe(folders, mode));
  ABSL_RETURN_IF_ERROR(MakeFolderAt(folders.root.get(), kLatest));
  ABSL_ASSIGN_OR_RETURN(UniqueFd latest,
                        OpenFolderAt(folders.root.get(), kLatest));
  return absl::WrapUnique(
      new LocalLatestView(folders, std::move(latest), mode));
}

absl::Status LocalLatestView::EnterFolder(const std::string& name, bool make) {
  const int parent = Current();
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  absl::StatusOr<UniqueFd> folder = OpenAt(parent, name, kFlags);
  if (!folder.ok() && make) {
    // A file, or a link somebody made, where a folder now belongs.
    const absl::StatusOr<struct stat> there = StatAt(parent, name);
    if (there.ok() && !S_ISDIR(there->st_mode)) {
      unlinkat(parent, name.c_str(), 0);
    }
    ABSL_RETURN_IF_ERROR(MakeFolderAt(parent, name));
    folder = OpenAt(parent, name, kFlags);
  }
  ABSL_RETURN_IF_ERROR(folder.status());
  open_.emplace_back(name, *std::move(folder));
  return absl::OkStatus();
}

absl::StatusOr<int> LocalLatestView::OpenFolder(absl::string_view path,
                                                bool make) {
  const std::vector<std::string> names =
      absl::StrSplit(path, '/', absl::SkipEmpty());
  size_t shared = 0;
  while (shared < names.size() && shared < open_.size() &&
         names[shared] == open_[shared].first) {
    ++shared;
  }
  open_.resize(shared);
  for (size_t i = shared; i < names.size(); ++i) {
    ABSL_RETURN_IF_ERROR(EnterFolder(names[i], make));
  }
  return Current();
}

absl::StatusOr<bool> LocalLatestView::HasFolder(absl::string_view path) {
  ABSL_RETURN_IF_ERROR(CheckPath(path));
  const absl::Status opened = OpenFolder(path, /*make=*/false).status();
  if (absl::IsUnavailable(opened) || absl::IsPermissionDenied(opened)) {
    return opened;
  }
  // No such folder, or a file or link in its place.
  return opened.ok();
}

absl::Status LocalLatestView::PutFolder(absl::string_view path) {
  ABSL_RETURN_IF_ERROR(CheckPath(path));
  return OpenFolder(path, /*make=*/true).status();
}

absl::Status LocalLatestView::PutFile(absl::string_view path,
                                      absl::string_view sha256,
                                      absl::Time last_modified) {
  ABSL_RETURN_IF_ERROR(CheckPath(path));
  if (!IsSha256Hex(sha256)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", sha256, "' is no SHA-256"));
  }
  const auto [parent_path, name] = SplitLast(path);
  ABSL_ASSIGN_OR_RETURN(const int parent,
                        OpenFolder(parent_path, /*make=*/true));
  return cloner_.Clone(sha256, last_modified, parent, name);
}

absl::Status LocalLatestView::Remove(absl::string_view path) {
  ABSL_RETURN_IF_ERROR(CheckPath(path));
  const auto [parent_path, name] = SplitLast(path);
  const absl::StatusOr<int> parent = OpenFolder(parent_path, /*make=*/false);
  // No such folder, or a file in its place: then nothing is beneath it.
  if (!parent.ok()) return absl::OkStatus();
  const absl::StatusOr<struct stat> there = StatAt(*parent, name);
  if (absl::IsNotFound(there.status())) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(there.status());
  const int flags = S_ISDIR(there->st_mode) ? AT_REMOVEDIR : 0;
  if (unlinkat(*parent, name.c_str(), flags) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  if (errno == ENOTEMPTY || errno == EEXIST) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " holds files that are not ours"));
  }
  return ErrnoStatus(errno, "remove", path);
}

absl::Status LocalLatestView::EmptyFolder() {
  // Names first, because a folder that shrinks while it is read may skip
  // some; in rounds, so that a large one needs no more memory.
  while (true) {
    std::vector<std::string> names;
    ABSL_RETURN_IF_ERROR(
        VisitFolder(Current(), ".", [&](absl::string_view name, unsigned char) {
          names.emplace_back(name);
          return names.size() < kRemovedAtOnce;
        }));
    if (names.empty()) return absl::OkStatus();
    for (const std::string& name : names) {
      if (unlinkat(Current(), name.c_str(), 0) == 0 || errno == ENOENT) {
        continue;
      }
      if (errno != EISDIR && errno != EPERM) {
        return ErrnoStatus(errno, "remove", name);
      }
      ABSL_RETURN_IF_ERROR(EnterFolder(name, /*make=*/false));
      ABSL_RETURN_IF_ERROR(EmptyFolder());
      open_.pop_back();
      if (unlinkat(Current(), name.c_str(), AT_REMOVEDIR) != 0) {
        return ErrnoStatus(errno, "remove", name);
      }
    }
  }
}

absl::Status LocalLatestView::RemoveTree(absl::string_view path) {
  if (path.empty()) {
    open_.clear();
    return EmptyFolder();
  }
  ABSL_RETURN_IF_ERROR(CheckPath(path));
  // Where it is no folder, it is a file or nothing.
  if (OpenFolder(path, /*make=*/false).ok()) {
    ABSL_RETURN_IF_ERROR(EmptyFolder());
  }
  return Remove(path);
}

absl::Status LocalLatestView::Sync() { return SyncFileSystem(latest_.get()); }

}  // namespace bimbackup::storage::local
