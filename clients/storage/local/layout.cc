#include "clients/storage/local/layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "services/common/random.h"
#include "services/common/status_macros.h"
#include "simdjson.h"

namespace bimbackup::storage::local {
namespace {

constexpr char kMarkerName[] = "bimbackup.json";
constexpr int64_t kFormat = 1;
constexpr size_t kMaxMarkerBytes = 65536;
constexpr int kFanOut = 4096;

Random& UniqueNames() {
  static Random& random = *new SeededRandom();
  return random;
}

bool IsObjectFolder(absl::string_view name) {
  return name == "manifests" || name == "snapshots" || name == "protected" ||
         name == "catalog";
}

// Nothing but what a fresh file system or an interrupted creation leaves.
absl::Status CheckEmpty(int root, const std::string& path) {
  std::string found;
  ABSL_RETURN_IF_ERROR(
      VisitFolder(root, ".", [&](absl::string_view name, unsigned char) {
        if (name != "lost+found" && name != "tmp") found = std::string(name);
        return found.empty();
      }));
  if (found.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "storage ", path, " has no ", kMarkerName, " and is not empty (it holds ",
      found, "): give an empty folder or the right one"));
}

absl::StatusOr<std::string> ParseMarker(const std::string& text,
                                        const std::string& path) {
  simdjson::dom::parser parser;
  simdjson::dom::element marker;
  int64_t format = 0;
  if (parser.parse(text).get(marker) || marker["format"].get(format)) {
    return absl::DataLossError(
        absl::StrCat("storage ", path, ": ", kMarkerName, " is damaged"));
  }
  if (format > kFormat) {
    return absl::FailedPreconditionError(absl::StrCat(
        "storage ", path, " has format ", format, ", this version knows ",
        kFormat, ": use a newer bimbackup"));
  }
  std::string_view id;
  if (marker["storage_id"].get(id) || id.empty()) {
    return absl::DataLossError(absl::StrCat("storage ", path, ": ", kMarkerName,
                                            " has no storage_id"));
  }
  return std::string(id);
}

}  // namespace

std::string BlobKey(absl::string_view sha256) {
  return absl::StrCat("blobs/sha256/", sha256.substr(0, 3), "/", sha256);
}

std::string DamagedKey(absl::string_view sha256) {
  return absl::StrCat("damaged/", sha256);
}

bool IsContentFolder(absl::string_view name) {
  return name == "blobs" || IsObjectFolder(name);
}

bool HoldsContent(int root) {
  for (const char* folder : {"snapshots", "manifests", "blobs"}) {
    if (OpenFolderAt(root, folder).ok()) return true;
  }
  return false;
}

bool IsSafeRelativePath(absl::string_view path) {
  for (absl::string_view component : absl::StrSplit(path, '/')) {
    if (component.empty() || component == "." || component == ".." ||
        absl::StrContains(component, '\0')) {
      return false;
    }
  }
  return true;
}

bool IsObjectKey(absl::string_view key) {
  const size_t slash = key.find('/');
  return slash != absl::string_view::npos &&
         IsObjectFolder(key.substr(0, slash)) && IsSafeRelativePath(key);
}

absl::StatusOr<UniqueFd> OpenRoot(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) return UniqueFd(fd);
  const int error = errno;
  if (error == ENOTDIR) {
    return absl::FailedPreconditionError(
        absl::StrCat("storage ", path, " is not a folder"));
  }
  if (error == ENOENT) {
    return absl::FailedPreconditionError(
        absl::StrCat("storage ", path, " does not exist: is it mounted?"));
  }
  return ErrnoStatus(error, "open storage", path);
}

absl::StatusOr<std::string> ReadMarker(int root, const std::string& path) {
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file,
                        OpenAt(root, kMarkerName, O_RDONLY));
  ABSL_ASSIGN_OR_RETURN(const std::string text,
                        ReadSmallFile(file.get(), kMaxMarkerBytes));
  return ParseMarker(text, path);
}

absl::Status MakeMarker(int root, const std::string& path) {
  ABSL_RETURN_IF_ERROR(CheckEmpty(root, path));
  ABSL_RETURN_IF_ERROR(MakeFolderAt(root, "tmp"));
  const std::string name = absl::StrCat("tmp/", UniqueTemporaryName("marker"));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd file,
                        OpenAt(root, name, O_CREAT | O_EXCL | O_WRONLY, 0444));
  ABSL_RETURN_IF_ERROR(
      WriteAllAt(file.get(), 0,
                 absl::StrCat("{\"format\":", kFormat, ",\"storage_id\":\"",
                              UniqueNames().NextUuid(), "\"}\n")));
  ABSL_RETURN_IF_ERROR(SyncAll(file.get()));
  const absl::Status moved =
      MoveWithoutReplacing(root, name, root, kMarkerName);
  if (absl::IsAlreadyExists(moved)) {
    unlinkat(root, name.c_str(), 0);
    return absl::OkStatus();
  }
  ABSL_RETURN_IF_ERROR(moved);
  return SyncAll(root);
}

absl::Status MakeFolders(int root) {
  for (const char* folder : {"tmp", "snapshots", "manifests",
                             "manifests/sha256", "blobs", "blobs/sha256"}) {
    ABSL_RETURN_IF_ERROR(MakeFolderAt(root, folder));
  }
  // The last one is made last: where it stands, all others do. They need not
  // be made durable: a commit makes again what is missing.
  if (StatAt(root, "blobs/sha256/fff").ok()) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const UniqueFd blobs,
                        OpenFolderAt(root, "blobs/sha256"));
  for (int i = 0; i < kFanOut; ++i) {
    ABSL_RETURN_IF_ERROR(MakeFolderAt(blobs.get(), absl::StrFormat("%03x", i)));
  }
  return absl::OkStatus();
}

std::string UniqueTemporaryName(absl::string_view kind) {
  return absl::StrFormat("%s-%016x", kind, UniqueNames().Next());
}

}  // namespace bimbackup::storage::local
