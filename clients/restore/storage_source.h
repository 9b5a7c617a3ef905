// Restores from what is left of a storage: snapshots, manifests and blobs.

#ifndef CLIENTS_RESTORE_STORAGE_SOURCE_H_
#define CLIENTS_RESTORE_STORAGE_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/restore/restore_source.h"
#include "clients/storage/storage.h"

namespace bimbackup::restore {

// Thread-safe.
class StorageSource : public RestoreSource {
 public:
  // The storage outlives the source; being open for reading is enough.
  explicit StorageSource(storage::Storage& storage) : storage_(storage) {}

  absl::StatusOr<std::unique_ptr<EntryStream>> ListEntries(
      const Selection& selection) override;
  absl::StatusOr<std::unique_ptr<BlobStream>> OpenBlob(absl::string_view sha256,
                                                       int64_t offset) override;

 private:
  storage::Storage& storage_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_STORAGE_SOURCE_H_
