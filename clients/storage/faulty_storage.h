// A storage that fails on request, in front of one that works. For tests.

#ifndef CLIENTS_STORAGE_FAULTY_STORAGE_H_
#define CLIENTS_STORAGE_FAULTY_STORAGE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/common/mutex.h"

namespace bimbackup::storage {

// What can be made to fail.
enum class StorageCall {
  kCheckMarker,
  kGetCapacity,
  kOpenBlobWriter,
  kWriteAt,
  kRecordRange,
  kCommitBlob,
  kReadBlob,
  kGetBlobSize,
  kWriteObject,
  kCommitObject,
  kReadObject,
  kRemoveObject,
  kRemoveBlob,
  kSetAsideBlob,
  kList,
  kPutLatest,
  kSyncLatest,
};

// The faults that are set, and how often each call was made. Thread-safe.
class StorageFaults {
 public:
  // Lets `count` calls through, then fails `times` of them (-1: all) with
  // `status`; takes the place of the call's former fault.
  void Fail(StorageCall call, absl::Status status, int after = 0,
            int times = -1);

  // Disk full: whatever writes fails with RESOURCE_EXHAUSTED.
  void SetFull();
  // Mounted read-only: whatever writes fails with PERMISSION_DENIED.
  void SetReadOnly();
  // Unmounted: the marker is not there, everything else is UNAVAILABLE.
  void SetVanished();
  void Clear();

  int calls(StorageCall call);

  // Counts the call; its error, if it is to fail now.
  absl::Status Check(StorageCall call);

 private:
  struct Fault {
    absl::Status status;
    int after = 0;
    int times = -1;
  };

  void FailWrites(const absl::Status& status);

  Mutex mutex_;
  std::map<StorageCall, Fault> faults_ ABSL_GUARDED_BY(mutex_);
  std::map<StorageCall, int> calls_ ABSL_GUARDED_BY(mutex_);
};

// Forwards to `base`, which outlives it, what `faults()` lets through.
// Thread-safe, and outlives the writers it gave out.
class FaultyStorage : public Storage {
 public:
  explicit FaultyStorage(Storage& base) : base_(base) {}

  StorageFaults& faults() { return faults_; }

  const std::string& id() const override { return base_.id(); }
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
  Storage& base_;
  StorageFaults faults_;
};

}  // namespace bimbackup::storage

#endif  // CLIENTS_STORAGE_FAULTY_STORAGE_H_
