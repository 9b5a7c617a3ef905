// A blob's temporary file, held under an exclusive lock.
//
// The lock is flock(2), not fcntl's byte ranges: it belongs to the open file
// and not to the process, so it also keeps two writers of one process apart,
// and closing some other descriptor of the file does not drop it. NFS and SMB
// clients turn it into a byte-range lock that the server knows, which is why
// the file is opened for writing. A client that lost its lock on NFS gets
// errors from then on instead of writing.

#ifndef CLIENTS_STORAGE_LOCAL_TEMPORARY_BLOB_H_
#define CLIENTS_STORAGE_LOCAL_TEMPORARY_BLOB_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/local/posix_file.h"

namespace bimbackup::storage::local {

// Names derive from the storage URN alone, so that a later attempt finds the
// file again: "<32 hex>.part", and "<32 hex>-1.part" and so on for those who
// came while it was held. Not thread-safe, except that the descriptor may be
// read and written by several threads.
class TemporaryBlob {
 public:
  // Takes the first of those names that nobody holds. UNAVAILABLE when all
  // are held, or the file system has no locks.
  static absl::StatusOr<std::unique_ptr<TemporaryBlob>> Open(
      int temporary_folder, absl::string_view storage_urn);

  // Removes the file unless it is to be kept or has moved away.
  ~TemporaryBlob();

  int fd() const { return file_.get(); }
  const std::string& name() const { return name_; }
  std::string journal_name() const { return name_ + ".journal"; }

  // Whether the file is left for a later attempt; at first it is not.
  void SetKept(bool kept) { kept_ = kept; }

  // Moves the file, which is complete and durable, to the blob's place,
  // read-only, and removes its journal first, so that no journal outlives its
  // file. OK, and
  // the file is dropped, where a blob of that size stands there; one of
  // another size is damaged and gets replaced.
  absl::Status MoveTo(int root, absl::string_view sha256, int64_t size);

 private:
  TemporaryBlob(int temporary_folder, std::string name, UniqueFd file)
      : folder_(temporary_folder),
        name_(std::move(name)),
        file_(std::move(file)) {}

  // Nothing where the name is held or has just moved away.
  static absl::StatusOr<UniqueFd> TryHold(int folder, const std::string& name);

  const int folder_;
  const std::string name_;
  UniqueFd file_;
  bool kept_ = false;
  bool moved_ = false;
};

// Whether an exclusive lock on the file could be had at once. UNAVAILABLE
// where the file system has no locks.
absl::StatusOr<bool> TryLock(int fd);

// Whether `name` still is the file behind `fd`: its former holder may have
// moved or removed it between our opening it and getting the lock.
bool IsStillNamed(int fd, int folder, const std::string& name);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_TEMPORARY_BLOB_H_
