// The folder that a restore writes into, and nothing outside it.

#ifndef CLIENTS_RESTORE_DESTINATION_H_
#define CLIENTS_RESTORE_DESTINATION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/restore/local_names.h"
#include "clients/storage/local/posix_file.h"

namespace bimbackup::restore {

// One folder, held open, so that nothing put into its place meanwhile can
// lead elsewhere. Shared by those who put files into it; its time is set when
// the last of them has gone. Thread-safe but for set_time().
class Folder {
 public:
  // `path` is for messages.
  Folder(storage::local::UniqueFd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // -1 where a dry run found none.
  int fd() const { return fd_.get(); }
  bool exists() const { return fd_.valid(); }
  const std::string& path() const { return path_; }
  // What `name` in it is called in messages.
  std::string PathOf(const std::string& name) const;

  void set_time(absl::Time time) { time_ = time; }

 private:
  const storage::local::UniqueFd fd_;
  const std::string path_;
  std::optional<absl::Time> time_;
};

// Thread-safe.
class Destination {
 public:
  // Makes the folder where its parent exists, and finds out what it can hold.
  // A dry run makes and writes nothing. INVALID_ARGUMENT for one that lies in
  // a storage.
  static absl::StatusOr<std::unique_ptr<Destination>> Open(
      const std::string& path, bool dry_run);

  const std::shared_ptr<Folder>& root() const { return root_; }
  const NameRules& rules() const { return rules_; }
  bool dry_run() const { return dry_run_; }

  // The child folder, made where it is missing. FAILED_PRECONDITION where a
  // file or a symbolic link stands in its place: links are not followed.
  absl::StatusOr<std::shared_ptr<Folder>> OpenFolder(
      const Folder& parent, const std::string& name) const;

  // Makes everything in the folders durable that was written so far; false
  // where each file needs a wait of its own for that.
  absl::StatusOr<bool> SyncAtOnce() const;

 private:
  Destination(std::shared_ptr<Folder> root, bool dry_run);

  const std::shared_ptr<Folder> root_;
  const bool dry_run_;
  // Waiting for the whole file system reaches the disk.
  const bool syncs_at_once_;
  NameRules rules_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_DESTINATION_H_
