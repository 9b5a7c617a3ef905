// A folder to try things in, gone afterwards.

#ifndef CLIENTS_CLI_DOCTOR_SCRATCH_FOLDER_H_
#define CLIENTS_CLI_DOCTOR_SCRATCH_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/storage/local/posix_file.h"

namespace bimbackup::cli::doctor {

// A fresh folder with two files in it. Not thread-safe.
class ScratchFolder {
 public:
  // Makes it inside `parent`, an absolute path.
  static absl::StatusOr<ScratchFolder> Make(const std::string& parent);
  ScratchFolder(ScratchFolder&&) = default;
  ~ScratchFolder();

  // Each tries one thing that a storage needs; OK when it works.
  absl::Status TryRename();
  absl::Status TryHardLink();
  absl::Status TryReflink();
  // UNAVAILABLE when locks fail, or when a second holder gets one as well.
  absl::Status TryLock();
  // How long it takes to make a small file and its folder durable.
  absl::StatusOr<absl::Duration> TimeSync();

 private:
  ScratchFolder(std::string path, storage::local::UniqueFd folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  storage::local::UniqueFd folder_;
};

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_SCRATCH_FOLDER_H_
