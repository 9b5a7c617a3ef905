#include "clients/storage/local/temporary_sweep.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/local/temporary_blob.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

constexpr absl::string_view kJournalSuffix = ".journal";

// The time by the clock of whoever keeps the files.
absl::StatusOr<absl::Time> ServerTime(int folder) {
  const std::string name = UniqueTemporaryName("clock");
  ABSL_RETURN_IF_ERROR(
      OpenAt(folder, name, O_CREAT | O_EXCL | O_WRONLY, 0600).status());
  const absl::StatusOr<struct stat> info = StatAt(folder, name);
  unlinkat(folder, name.c_str(), 0);
  ABSL_RETURN_IF_ERROR(info.status());
  return absl::TimeFromTimespec(info->st_ctim);
}

absl::Status Remove(int folder, const std::string& name) {
  if (unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, "remove", name);
}

absl::Status SweepFile(int folder, const std::string& name) {
  absl::StatusOr<UniqueFd> file =
      OpenAt(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  if (file.ok()) {
    ABSL_ASSIGN_OR_RETURN(const bool free, TryLock(file->get()));
    if (!free || !IsStillNamed(file->get(), folder, name)) {
      return absl::OkStatus();
    }
  } else if (!absl::IsPermissionDenied(file.status())) {
    return file.status();
  }
  // Read-only ones are links that a dead update of the latest view left.
  ABSL_RETURN_IF_ERROR(Remove(folder, absl::StrCat(name, kJournalSuffix)));
  return Remove(folder, name);
}

}  // namespace

absl::Status SweepTemporary(int temporary_folder, absl::Duration age) {
  ABSL_ASSIGN_OR_RETURN(const absl::Time now, ServerTime(temporary_folder));
  absl::Status first_error;
  ABSL_RETURN_IF_ERROR(VisitFolder(
      temporary_folder, ".", [&](absl::string_view entry, unsigned char) {
        const std::string name(entry);
        const absl::StatusOr<struct stat> info = StatAt(temporary_folder, name);
        // Change time: a link's modification time is the blob's.
        if (!info.ok() || !S_ISREG(info->st_mode) ||
            absl::TimeFromTimespec(info->st_ctim) + age > now) {
          return true;
        }
        const bool has_owner =
            absl::EndsWith(name, kJournalSuffix) &&
            StatAt(temporary_folder,
                   std::string(absl::StripSuffix(name, kJournalSuffix)))
                .ok();
        if (!has_owner) {
          first_error.Update(SweepFile(temporary_folder, name));
        }
        return true;
      }));
  return first_error;
}

}  // namespace bimbackup::storage::local
