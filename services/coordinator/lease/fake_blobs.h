// A storage of which the lease pool sees blobs, marker and room. For tests.

#ifndef SERVICES_COORDINATOR_LEASE_FAKE_BLOBS_H_
#define SERVICES_COORDINATOR_LEASE_FAKE_BLOBS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "clients/storage/storage.h"
#include "services/common/mutex.h"

namespace bimbackup::lease {

// Everything but blobs' sizes, objects' keys, the marker and the capacity is
// UNIMPLEMENTED.
// Thread-safe.
class FakeBlobs : public storage::Storage {
 public:
  void Put(const std::string& sha256, int64_t size) {
    MutexLock lock(mutex_);
    blobs_[sha256] = size;
  }
  // Every look fails with this until it is OK again.
  void Fail(absl::Status status) {
    MutexLock lock(mutex_);
    failure_ = std::move(status);
  }
  // Every write fails with this until it is OK again.
  void FailWrites(absl::Status status) {
    MutexLock lock(mutex_);
    write_failure_ = std::move(status);
  }
  void SetFree(std::optional<int64_t> bytes) {
    MutexLock lock(mutex_);
    free_bytes_ = bytes;
  }

  const std::string& id() const override { return id_; }
  absl::Status CheckMarker() override {
    MutexLock lock(mutex_);
    return failure_;
  }
  absl::StatusOr<storage::Capacity> GetCapacity() override {
    MutexLock lock(mutex_);
    storage::Capacity capacity;
    capacity.free_bytes = free_bytes_;
    return capacity;
  }
  absl::StatusOr<int64_t> GetBlobSize(absl::string_view sha256) override {
    MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto it = blobs_.find(std::string(sha256.data(), sha256.size()));
    if (it == blobs_.end()) return absl::NotFoundError("no such blob");
    return it->second;
  }

  absl::StatusOr<std::unique_ptr<storage::BlobWriter>> OpenBlobWriter(
      absl::string_view) override {
    return absl::UnimplementedError("OpenBlobWriter");
  }
  absl::StatusOr<std::unique_ptr<storage::ObjectReader>> OpenBlob(
      absl::string_view) override {
    return absl::UnimplementedError("OpenBlob");
  }
  absl::StatusOr<std::unique_ptr<storage::ObjectWriter>> OpenObjectWriter()
      override {
    MutexLock lock(mutex_);
    if (!write_failure_.ok()) return write_failure_;
    return std::make_unique<Scratch>(*this);
  }
  absl::Status RemoveObject(absl::string_view key) override {
    MutexLock lock(mutex_);
    objects_.erase(std::string(key.data(), key.size()));
    return absl::OkStatus();
  }
  absl::Status RemoveBlob(absl::string_view) override {
    return absl::UnimplementedError("RemoveBlob");
  }
  absl::Status SetAsideBlob(absl::string_view) override {
    return absl::UnimplementedError("SetAsideBlob");
  }
  absl::StatusOr<std::unique_ptr<storage::ObjectReader>> OpenObject(
      absl::string_view) override {
    return absl::UnimplementedError("OpenObject");
  }
  absl::StatusOr<bool> ObjectExists(absl::string_view key) override {
    MutexLock lock(mutex_);
    return objects_.count(std::string(key.data(), key.size())) > 0;
  }
  absl::StatusOr<storage::ObjectPage> List(absl::string_view prefix,
                                           absl::string_view) override {
    MutexLock lock(mutex_);
    storage::ObjectPage page;
    for (const std::string& key : objects_) {
      if (absl::StartsWith(key, prefix)) {
        page.entries.emplace_back().key = key;
      }
    }
    return page;
  }
  absl::StatusOr<std::unique_ptr<storage::LatestView>> OpenLatestView()
      override {
    return absl::UnimplementedError("OpenLatestView");
  }
  absl::Status SweepTemporary(absl::Duration) override {
    return absl::UnimplementedError("SweepTemporary");
  }

 private:
  // Keeps no bytes.
  class Scratch : public storage::ObjectWriter {
   public:
    explicit Scratch(FakeBlobs& storage) : storage_(storage) {}

    absl::Status Append(absl::string_view) override { return absl::OkStatus(); }
    absl::Status Commit(absl::string_view key) override {
      MutexLock lock(storage_.mutex_);
      if (!storage_.write_failure_.ok()) return storage_.write_failure_;
      storage_.objects_.emplace(key.data(), key.size());
      return absl::OkStatus();
    }

   private:
    FakeBlobs& storage_;
  };

  const std::string id_ = "fake";
  mutable Mutex mutex_;
  std::map<std::string, int64_t> blobs_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> objects_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  absl::Status write_failure_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> free_bytes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_FAKE_BLOBS_H_
