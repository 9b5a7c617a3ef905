#include "clients/storage/faulty_storage.h"

#include <functional>
#include <utility>
#include <vector>

#include "services/common/status_macros.h"

namespace bimbackup::storage {
namespace {

class FaultyBlobWriter : public BlobWriter {
 public:
  FaultyBlobWriter(StorageFaults& faults, std::unique_ptr<BlobWriter> base)
      : faults_(faults), base_(std::move(base)) {}

  const std::vector<ByteRange>& recovered() const override {
    return base_->recovered();
  }
  absl::Status SetIdentity(const ContentIdentity& identity) override {
    return base_->SetIdentity(identity);
  }
  absl::Status WriteAt(int64_t offset, absl::string_view bytes) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kWriteAt));
    return base_->WriteAt(offset, bytes);
  }
  absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                size_t size) override {
    return base_->ReadAt(offset, buffer, size);
  }
  absl::Status RecordRange(ByteRange range) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kRecordRange));
    return base_->RecordRange(range);
  }
  void Commit(absl::string_view sha256, int64_t size,
              std::function<void(absl::Status)> done) override {
    const absl::Status fault = faults_.Check(StorageCall::kCommitBlob);
    if (!fault.ok()) {
      done(fault);
      return;
    }
    base_->Commit(sha256, size, std::move(done));
  }
  absl::Status Discard() override { return base_->Discard(); }

 private:
  StorageFaults& faults_;
  const std::unique_ptr<BlobWriter> base_;
};

class FaultyObjectWriter : public ObjectWriter {
 public:
  FaultyObjectWriter(StorageFaults& faults, std::unique_ptr<ObjectWriter> base)
      : faults_(faults), base_(std::move(base)) {}

  absl::Status Append(absl::string_view bytes) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kWriteObject));
    return base_->Append(bytes);
  }
  absl::Status Commit(absl::string_view key) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kCommitObject));
    return base_->Commit(key);
  }

 private:
  StorageFaults& faults_;
  const std::unique_ptr<ObjectWriter> base_;
};

class FaultyObjectReader : public ObjectReader {
 public:
  FaultyObjectReader(StorageFaults& faults, StorageCall call,
                     std::unique_ptr<ObjectReader> base)
      : faults_(faults), call_(call), base_(std::move(base)) {}

  int64_t size() const override { return base_->size(); }
  absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                size_t size) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(call_));
    return base_->ReadAt(offset, buffer, size);
  }

 private:
  StorageFaults& faults_;
  const StorageCall call_;
  const std::unique_ptr<ObjectReader> base_;
};

class FaultyLatestView : public LatestView {
 public:
  FaultyLatestView(StorageFaults& faults, std::unique_ptr<LatestView> base)
      : faults_(faults), base_(std::move(base)) {}

  absl::StatusOr<bool> HasFolder(absl::string_view path) override {
    return base_->HasFolder(path);
  }
  absl::Status PutFolder(absl::string_view path) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kPutLatest));
    return base_->PutFolder(path);
  }
  absl::Status PutFile(absl::string_view path, absl::string_view sha256,
                       absl::Time last_modified) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kPutLatest));
    return base_->PutFile(path, sha256, last_modified);
  }
  absl::Status Remove(absl::string_view path) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kPutLatest));
    return base_->Remove(path);
  }
  absl::Status RemoveTree(absl::string_view path) override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kPutLatest));
    return base_->RemoveTree(path);
  }
  absl::Status Sync() override {
    ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kSyncLatest));
    return base_->Sync();
  }

 private:
  StorageFaults& faults_;
  const std::unique_ptr<LatestView> base_;
};

}  // namespace

void StorageFaults::Fail(StorageCall call, absl::Status status, int after,
                         int times) {
  MutexLock lock(mutex_);
  faults_[call] = {std::move(status), after, times};
}

void StorageFaults::FailWrites(const absl::Status& status) {
  for (StorageCall call :
       {StorageCall::kOpenBlobWriter, StorageCall::kWriteAt,
        StorageCall::kRecordRange, StorageCall::kCommitBlob,
        StorageCall::kWriteObject, StorageCall::kCommitObject,
        StorageCall::kRemoveObject, StorageCall::kRemoveBlob,
        StorageCall::kSetAsideBlob, StorageCall::kPutLatest,
        StorageCall::kSyncLatest}) {
    Fail(call, status);
  }
}

void StorageFaults::SetFull() {
  FailWrites(absl::ResourceExhaustedError("no space left on the storage"));
}

void StorageFaults::SetReadOnly() {
  FailWrites(absl::PermissionDeniedError("the storage is read-only"));
}

void StorageFaults::SetVanished() {
  const absl::Status gone = absl::UnavailableError("the storage has gone");
  FailWrites(gone);
  for (StorageCall call : {StorageCall::kGetCapacity, StorageCall::kReadBlob,
                           StorageCall::kGetBlobSize, StorageCall::kReadObject,
                           StorageCall::kList}) {
    Fail(call, gone);
  }
  Fail(StorageCall::kCheckMarker,
       absl::FailedPreconditionError("the storage has no bimbackup.json"));
}

void StorageFaults::Clear() {
  MutexLock lock(mutex_);
  faults_.clear();
}

int StorageFaults::calls(StorageCall call) {
  MutexLock lock(mutex_);
  return calls_[call];
}

absl::Status StorageFaults::Check(StorageCall call) {
  MutexLock lock(mutex_);
  ++calls_[call];
  const auto found = faults_.find(call);
  if (found == faults_.end()) return absl::OkStatus();
  Fault& fault = found->second;
  if (fault.after > 0) {
    --fault.after;
    return absl::OkStatus();
  }
  if (fault.times == 0) return absl::OkStatus();
  if (fault.times > 0) --fault.times;
  return fault.status;
}

absl::Status FaultyStorage::CheckMarker() {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kCheckMarker));
  return base_.CheckMarker();
}

absl::StatusOr<Capacity> FaultyStorage::GetCapacity() {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kGetCapacity));
  return base_.GetCapacity();
}

absl::StatusOr<std::unique_ptr<BlobWriter>> FaultyStorage::OpenBlobWriter(
    absl::string_view storage_urn) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kOpenBlobWriter));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<BlobWriter> writer,
                        base_.OpenBlobWriter(storage_urn));
  return std::make_unique<FaultyBlobWriter>(faults_, std::move(writer));
}

absl::StatusOr<int64_t> FaultyStorage::GetBlobSize(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kGetBlobSize));
  return base_.GetBlobSize(sha256);
}

absl::StatusOr<std::unique_ptr<ObjectReader>> FaultyStorage::OpenBlob(
    absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kReadBlob));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectReader> reader,
                        base_.OpenBlob(sha256));
  return std::make_unique<FaultyObjectReader>(faults_, StorageCall::kReadBlob,
                                              std::move(reader));
}

absl::Status FaultyStorage::SetAsideBlob(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kSetAsideBlob));
  return base_.SetAsideBlob(sha256);
}

absl::Status FaultyStorage::RemoveBlob(absl::string_view sha256) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kRemoveBlob));
  return base_.RemoveBlob(sha256);
}

absl::StatusOr<std::unique_ptr<ObjectWriter>>
FaultyStorage::OpenObjectWriter() {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kWriteObject));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> writer,
                        base_.OpenObjectWriter());
  return std::make_unique<FaultyObjectWriter>(faults_, std::move(writer));
}

absl::StatusOr<std::unique_ptr<ObjectReader>> FaultyStorage::OpenObject(
    absl::string_view key) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kReadObject));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectReader> reader,
                        base_.OpenObject(key));
  return std::make_unique<FaultyObjectReader>(faults_, StorageCall::kReadObject,
                                              std::move(reader));
}

absl::StatusOr<bool> FaultyStorage::ObjectExists(absl::string_view key) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kReadObject));
  return base_.ObjectExists(key);
}

absl::Status FaultyStorage::RemoveObject(absl::string_view key) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kRemoveObject));
  return base_.RemoveObject(key);
}

absl::StatusOr<ObjectPage> FaultyStorage::List(absl::string_view prefix,
                                               absl::string_view page_token) {
  ABSL_RETURN_IF_ERROR(faults_.Check(StorageCall::kList));
  return base_.List(prefix, page_token);
}

absl::StatusOr<std::unique_ptr<LatestView>> FaultyStorage::OpenLatestView() {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LatestView> view,
                        base_.OpenLatestView());
  return std::make_unique<FaultyLatestView>(faults_, std::move(view));
}

absl::Status FaultyStorage::SweepTemporary(absl::Duration age) {
  return base_.SweepTemporary(age);
}

}  // namespace bimbackup::storage
