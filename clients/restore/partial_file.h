// A file on its way into the destination, under a temporary name.

#ifndef CLIENTS_RESTORE_PARTIAL_FILE_H_
#define CLIENTS_RESTORE_PARTIAL_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/restore/destination.h"
#include "clients/storage/local/posix_file.h"
#include "services/common/digest.h"

namespace bimbackup::restore {

// The temporary name of what will be `name` with these bytes: the same in
// every run, so that a later one goes on where an earlier one was cut off.
std::string PartialName(absl::string_view name, absl::string_view sha256);

// Held exclusively among processes. Stays where it is when destroyed, with
// what it has. Movable; not thread-safe.
class PartialFile {
 public:
  // Takes up what an earlier run left, or makes the file. ABORTED where
  // another process holds it.
  static absl::StatusOr<PartialFile> Open(std::shared_ptr<Folder> folder,
                                          std::string name);

  int64_t size() const { return size_; }
  const Folder& folder() const { return *folder_; }

  // Adds all that is there to `digest`.
  absl::Status AddTo(Digest& digest);
  // RESOURCE_EXHAUSTED where the disk is full.
  absl::Status Append(absl::string_view bytes);
  absl::Status Clear();
  absl::Status SetTime(absl::Time time);
  // Waits until the bytes are on the disk.
  absl::Status Sync();

  // Gives the file its name, whatever file has it now; with `replace` false
  // ALREADY_EXISTS where one has.
  absl::Status Place(const std::string& name, bool replace);
  void Remove();

 private:
  PartialFile(std::shared_ptr<Folder> folder, std::string name,
              storage::local::UniqueFd file, int64_t size)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        file_(std::move(file)),
        size_(size) {}

  std::shared_ptr<Folder> folder_;
  std::string name_;
  storage::local::UniqueFd file_;
  int64_t size_ = 0;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_PARTIAL_FILE_H_
