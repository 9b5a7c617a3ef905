#include "clients/storage/local/local_storage.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "clients/storage/local/file_removal.h"
#include "clients/storage/local/local_blob_writer.h"
#include "clients/storage/local/local_object.h"
#include "clients/storage/local/object_lister.h"
#include "clients/storage/local/temporary_sweep.h"
#include "services/common/digest.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

constexpr size_t kPageSize = 1000;

absl::Status CheckDigest(absl::string_view sha256) {
  if (IsSha256Hex(sha256)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", sha256, "' is no SHA-256"));
}

absl::Status CheckKey(absl::string_view key) {
  if (IsObjectKey(key)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no object has the key '", key, "'"));
}

// Opens the folder, made where it may be and its parent stands.
absl::StatusOr<UniqueFd> OpenOrMakeRoot(const std::string& path, bool create) {
  if (create && mkdir(path.c_str(), 0755) != 0 && errno != EEXIST &&
      errno != ENOENT) {
    return ErrnoStatus(errno, "make storage", path);
  }
  ABSL_ASSIGN_OR_RETURN(UniqueFd root, OpenRoot(path));
  if (faccessat(root.get(), ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    return absl::PermissionDeniedError(
        ErrnoStatus(errno, "write to storage", path).message());
  }
  return root;
}

absl::StatusOr<std::string> ReadOrMakeMarker(int root, const std::string& path,
                                             bool create) {
  absl::StatusOr<std::string> id = ReadMarker(root, path);
  if (absl::IsNotFound(id.status()) && create) {
    ABSL_RETURN_IF_ERROR(MakeMarker(root, path));
    id = ReadMarker(root, path);
  }
  if (absl::IsNotFound(id.status())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "storage ", path, " has no bimbackup.json: is it mounted?"));
  }
  if (absl::IsDataLoss(id.status())) {
    return absl::FailedPreconditionError(id.status().message());
  }
  return id;
}

// The marker's id; empty where there is none, or a damaged one, but something
// that can be read.
absl::StatusOr<std::string> ReadMarkerIfAny(int root, const std::string& path) {
  absl::StatusOr<std::string> id = ReadMarker(root, path);
  if (id.ok()) return id;
  if (!absl::IsNotFound(id.status()) && !absl::IsDataLoss(id.status())) {
    return id;
  }
  if (HoldsContent(root)) return std::string();
  return absl::FailedPreconditionError(absl::StrCat(
      "storage ", path, " has no bimbackup.json, snapshots, manifests or ",
      "blobs: is it mounted?"));
}

absl::Status CheckId(absl::string_view id, absl::string_view expected,
                     const std::string& path) {
  if (expected.empty() || id == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("storage ", path, " is another one: its id is ",
                   id.empty() ? "unknown" : id, ", expected ", expected));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalStorage>> LocalStorage::Open(
    const std::string& path, const OpenOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const LatestMode latest,
                        ParseLatestMode(options.latest));
  if (options.read_only) return OpenReadOnly(path, options, latest);
  StorageFolders folders;
  folders.path = path;
  ABSL_ASSIGN_OR_RETURN(folders.root, OpenOrMakeRoot(path, options.create));
  ABSL_ASSIGN_OR_RETURN(std::string id, ReadOrMakeMarker(folders.root.get(),
                                                         path, options.create));
  ABSL_RETURN_IF_ERROR(CheckId(id, options.expected_id, path));
  ABSL_RETURN_IF_ERROR(MakeFolders(folders.root.get()));
  ABSL_ASSIGN_OR_RETURN(folders.temporary,
                        OpenFolderAt(folders.root.get(), "tmp"));
  return absl::WrapUnique(new LocalStorage(std::move(folders), std::move(id),
                                           latest, /*read_only=*/false));
}

absl::StatusOr<std::unique_ptr<LocalStorage>> LocalStorage::OpenReadOnly(
    const std::string& path, const OpenOptions& options, LatestMode latest) {
  StorageFolders folders;
  folders.path = path;
  ABSL_ASSIGN_OR_RETURN(folders.root, OpenRoot(path));
  ABSL_ASSIGN_OR_RETURN(std::string id,
                        ReadMarkerIfAny(folders.root.get(), path));
  ABSL_RETURN_IF_ERROR(CheckId(id, options.expected_id, path));
  return absl::WrapUnique(new LocalStorage(std::move(folders), std::move(id),
                                           latest, /*read_only=*/true));
}

absl::Status LocalStorage::CheckWritable() const {
  if (!read_only_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("storage ", folders_.path, " is open for reading only"));
}

absl::Status LocalStorage::CheckMarker() {
  // By the path and not by our descriptor, which would still show a share
  // that has been unmounted.
  ABSL_ASSIGN_OR_RETURN(const UniqueFd root, OpenRoot(folders_.path));
  ABSL_ASSIGN_OR_RETURN(const std::string id,
                        read_only_ ? ReadMarkerIfAny(root.get(), folders_.path)
                                   : ReadOrMakeMarker(root.get(), folders_.path,
                                                      /*create=*/false));
  ABSL_RETURN_IF_ERROR(CheckId(id, id_, folders_.path));
  return Follow(root.get());
}

absl::Status LocalStorage::Follow(int root) const {
  if (IsSameMount(root, folders_.root.get())) return absl::OkStatus();
  // The numbers of the descriptors stay, so that nobody who uses them has to
  // wait; what was half done in the old folder fails, as it must.
  if (!read_only_) {
    ABSL_ASSIGN_OR_RETURN(const UniqueFd temporary, OpenFolderAt(root, "tmp"));
    if (dup3(temporary.get(), folders_.temporary.get(), O_CLOEXEC) < 0) {
      return ErrnoStatus(errno, "open", folders_.path);
    }
  }
  if (dup3(root, folders_.root.get(), O_CLOEXEC) < 0) {
    return ErrnoStatus(errno, "open", folders_.path);
  }
  return absl::OkStatus();
}

absl::StatusOr<Capacity> LocalStorage::GetCapacity() {
  struct statvfs info;
  if (fstatvfs(folders_.root.get(), &info) != 0) {
    return ErrnoStatus(errno, "ask for the room in", folders_.path);
  }
  const auto unit = static_cast<int64_t>(info.f_frsize);
  return Capacity{static_cast<int64_t>(info.f_bavail) * unit,
                  static_cast<int64_t>(info.f_blocks) * unit};
}

absl::StatusOr<std::unique_ptr<BlobWriter>> LocalStorage::OpenBlobWriter(
    absl::string_view storage_urn) {
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return LocalBlobWriter::Open(folders_, commits_, storage_urn);
}

absl::StatusOr<int64_t> LocalStorage::GetBlobSize(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(CheckDigest(sha256));
  ABSL_ASSIGN_OR_RETURN(const struct stat info,
                        StatAt(folders_.root.get(), BlobKey(sha256)));
  return info.st_size;
}

absl::StatusOr<std::unique_ptr<ObjectReader>> LocalStorage::OpenBlob(
    absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(CheckDigest(sha256));
  return LocalObjectReader::Open(folders_.root.get(), BlobKey(sha256));
}

absl::Status LocalStorage::SetAsideBlob(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(CheckDigest(sha256));
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return MoveDurably(folders_.root.get(), BlobKey(sha256), DamagedKey(sha256));
}

absl::Status LocalStorage::RemoveBlob(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(CheckDigest(sha256));
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return RemoveDurably(folders_.root.get(), BlobKey(sha256));
}

absl::StatusOr<std::unique_ptr<ObjectWriter>> LocalStorage::OpenObjectWriter() {
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return LocalObjectWriter::Open(folders_);
}

absl::StatusOr<std::unique_ptr<ObjectReader>> LocalStorage::OpenObject(
    absl::string_view key) {
  ABSL_RETURN_IF_ERROR(CheckKey(key));
  return LocalObjectReader::Open(folders_.root.get(), std::string(key));
}

absl::StatusOr<bool> LocalStorage::ObjectExists(absl::string_view key) {
  if (!IsObjectKey(key)) return false;
  const absl::Status found =
      StatAt(folders_.root.get(), std::string(key)).status();
  if (absl::IsNotFound(found)) return false;
  ABSL_RETURN_IF_ERROR(found);
  return true;
}

absl::Status LocalStorage::RemoveObject(absl::string_view key) {
  ABSL_RETURN_IF_ERROR(CheckKey(key));
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return RemoveDurably(folders_.root.get(), std::string(key));
}

absl::StatusOr<ObjectPage> LocalStorage::List(absl::string_view prefix,
                                              absl::string_view page_token) {
  return ListObjects(folders_.root.get(), prefix, page_token, kPageSize);
}

absl::StatusOr<std::unique_ptr<LatestView>> LocalStorage::OpenLatestView() {
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return LocalLatestView::Open(folders_, latest_);
}

absl::Status LocalStorage::SweepTemporary(absl::Duration age) {
  ABSL_RETURN_IF_ERROR(CheckWritable());
  return local::SweepTemporary(folders_.temporary.get(), age);
}

}  // namespace bimbackup::storage::local
