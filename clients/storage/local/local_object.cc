#include "clients/storage/local/local_object.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/storage/local/temporary_blob.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

constexpr size_t kCompareBytes = 64 << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<LocalObjectWriter>> LocalObjectWriter::Open(
    const StorageFolders& folders) {
  std::string name = UniqueTemporaryName("object");
  ABSL_ASSIGN_OR_RETURN(UniqueFd file, OpenAt(folders.temporary.get(), name,
                                              O_CREAT | O_EXCL | O_RDWR, 0444));
  auto writer = absl::WrapUnique(
      new LocalObjectWriter(folders, std::move(name), std::move(file)));
  // Held, so that no sweep takes it for a dead one's.
  ABSL_RETURN_IF_ERROR(TryLock(writer->file_.get()).status());
  return writer;
}

LocalObjectWriter::~LocalObjectWriter() {
  if (!committed_) unlinkat(folders_.temporary.get(), name_.c_str(), 0);
}

absl::Status LocalObjectWriter::Append(absl::string_view bytes) {
  ABSL_RETURN_IF_ERROR(WriteAllAt(file_.get(), size_, bytes));
  size_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> LocalObjectWriter::MakeParent(const std::string& key) {
  const std::vector<std::string> components = absl::StrSplit(key, '/');
  ABSL_ASSIGN_OR_RETURN(UniqueFd folder,
                        OpenFolderAt(folders_.root.get(), "."));
  for (size_t i = 0; i + 1 < components.size(); ++i) {
    if (mkdirat(folder.get(), components[i].c_str(), 0755) == 0) {
      ABSL_RETURN_IF_ERROR(SyncAll(folder.get()));
    } else if (errno != EEXIST) {
      return ErrnoStatus(errno, "make folder for", key);
    }
    ABSL_ASSIGN_OR_RETURN(folder, OpenFolderAt(folder.get(), components[i]));
  }
  return folder;
}

absl::Status LocalObjectWriter::CheckSame(const std::string& key) {
  ABSL_ASSIGN_OR_RETURN(const auto existing,
                        LocalObjectReader::Open(folders_.root.get(), key));
  bool same = existing->size() == size_;
  std::string ours(kCompareBytes, '\0');
  std::string theirs(kCompareBytes, '\0');
  for (int64_t offset = 0; same && offset < size_;) {
    ABSL_ASSIGN_OR_RETURN(
        const size_t got,
        ReadUpToAt(file_.get(), offset, ours.data(), ours.size()));
    ABSL_ASSIGN_OR_RETURN(
        const size_t other,
        existing->ReadAt(offset, theirs.data(), theirs.size()));
    same = got > 0 && got == other &&
           std::memcmp(ours.data(), theirs.data(), got) == 0;
    offset += static_cast<int64_t>(got);
  }
  if (same) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(key, " exists, with other bytes"));
}

absl::Status LocalObjectWriter::Commit(absl::string_view key) {
  if (committed_ || !IsObjectKey(key)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no object can be committed as '", key, "'"));
  }
  const std::string path(key);
  ABSL_RETURN_IF_ERROR(SyncAll(file_.get()));
  ABSL_ASSIGN_OR_RETURN(const UniqueFd parent, MakeParent(path));
  const absl::Status moved =
      MoveWithoutReplacing(folders_.temporary.get(), name_, parent.get(),
                           path.substr(path.rfind('/') + 1));
  if (absl::IsAlreadyExists(moved)) {
    ABSL_RETURN_IF_ERROR(CheckSame(path));
  } else {
    ABSL_RETURN_IF_ERROR(moved);
    committed_ = true;
  }
  return SyncAll(parent.get());
}

absl::StatusOr<std::unique_ptr<LocalObjectReader>> LocalObjectReader::Open(
    int root, const std::string& key) {
  ABSL_ASSIGN_OR_RETURN(UniqueFd file, OpenAt(root, key, O_RDONLY));
  struct stat info;
  if (fstat(file.get(), &info) != 0) {
    return ErrnoStatus(errno, "look at", key);
  }
  return absl::WrapUnique(new LocalObjectReader(std::move(file), info.st_size));
}

absl::StatusOr<size_t> LocalObjectReader::ReadAt(int64_t offset, char* buffer,
                                                 size_t size) {
  return ReadUpToAt(file_.get(), offset, buffer, size);
}

}  // namespace bimbackup::storage::local
