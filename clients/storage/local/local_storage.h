// Storage in a folder: a local disk, or a share that all workers mount.

#ifndef CLIENTS_STORAGE_LOCAL_LOCAL_STORAGE_H_
#define CLIENTS_STORAGE_LOCAL_LOCAL_STORAGE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/local/commit_queue.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/local_latest_view.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// Thread-safe. Outlives the writers and views it gave out.
class LocalStorage : public Storage {
 public:
  // `path` is absolute; otherwise as OpenStorage().
  static absl::StatusOr<std::unique_ptr<LocalStorage>> Open(
      const std::string& path, const OpenOptions& options);

  const std::string& id() const override { return id_; }
  absl::Status CheckMarker() override;
  absl::StatusOr<Capacity> GetCapacity() override;
  absl::StatusOr<std::unique_ptr<BlobWriter>> OpenBlobWriter(
      absl::string_view storage_urn) override;
  absl::StatusOr<int64_t> GetBlobSize(absl::string_view sha256) override;
  absl::StatusOr<std::unique_ptr<ObjectReader>> OpenBlob(
      absl::string_view sha256) override;
  absl::Status SetAsideBlob(absl::string_view sha256) override;
  absl::Status RemoveBlob(absl::string_view sha256) override;
  absl::StatusOr<std::unique_ptr<ObjectWriter>> OpenObjectWriter() override;
  absl::StatusOr<std::unique_ptr<ObjectReader>> OpenObject(
      absl::string_view key) override;
  absl::StatusOr<bool> ObjectExists(absl::string_view key) override;
  absl::Status RemoveObject(absl::string_view key) override;
  absl::StatusOr<ObjectPage> List(absl::string_view prefix,
                                  absl::string_view page_token) override;
  absl::StatusOr<std::unique_ptr<LatestView>> OpenLatestView() override;
  absl::Status SweepTemporary(absl::Duration age) override;

 private:
  LocalStorage(StorageFolders folders, std::string id, LatestMode latest,
               bool read_only)
      : folders_(std::move(folders)),
        id_(std::move(id)),
        latest_(latest),
        read_only_(read_only) {}

  // Opens what is left of a storage.
  static absl::StatusOr<std::unique_ptr<LocalStorage>> OpenReadOnly(
      const std::string& path, const OpenOptions& options, LatestMode latest);
  // Turns to the folder behind `root`, where that is not the one we have: what
  // was mounted anew is not seen through descriptors of before.
  absl::Status Follow(int root) const;
  // FAILED_PRECONDITION where the storage is open for reading alone.
  absl::Status CheckWritable() const;

  const StorageFolders folders_;
  const std::string id_;
  const LatestMode latest_;
  const bool read_only_;
  CommitQueue commits_{folders_,
                       SyncReachesDisk(FileSystemType(folders_.root.get()))};
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_LOCAL_STORAGE_H_
