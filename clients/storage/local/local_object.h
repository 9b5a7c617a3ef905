// Objects of a LocalStorage, one writer and one reader.

#ifndef CLIENTS_STORAGE_LOCAL_LOCAL_OBJECT_H_
#define CLIENTS_STORAGE_LOCAL_LOCAL_OBJECT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// Not thread-safe. `folders` outlives it.
class LocalObjectWriter : public ObjectWriter {
 public:
  static absl::StatusOr<std::unique_ptr<LocalObjectWriter>> Open(
      const StorageFolders& folders);
  ~LocalObjectWriter() override;

  absl::Status Append(absl::string_view bytes) override;
  absl::Status Commit(absl::string_view key) override;

 private:
  LocalObjectWriter(const StorageFolders& folders, std::string name,
                    UniqueFd file)
      : folders_(folders), name_(std::move(name)), file_(std::move(file)) {}

  // Makes the folders above `key`, durably; returns the one that holds it.
  absl::StatusOr<UniqueFd> MakeParent(const std::string& key);
  // OK where what stands under `key` has our bytes.
  absl::Status CheckSame(const std::string& key);

  const StorageFolders& folders_;
  const std::string name_;
  UniqueFd file_;
  int64_t size_ = 0;
  bool committed_ = false;
};

// Not thread-safe.
class LocalObjectReader : public ObjectReader {
 public:
  // NOT_FOUND where there is no such file.
  static absl::StatusOr<std::unique_ptr<LocalObjectReader>> Open(
      int root, const std::string& key);

  int64_t size() const override { return size_; }
  absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                size_t size) override;

 private:
  LocalObjectReader(UniqueFd file, int64_t size)
      : file_(std::move(file)), size_(size) {}

  UniqueFd file_;
  const int64_t size_;
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_LOCAL_OBJECT_H_
