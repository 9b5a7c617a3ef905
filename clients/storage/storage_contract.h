// What every Storage must do, as tests. A test program of an implementation
// links the object library storage_contract and instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Local, StorageContractTest,
//                            testing::Values(LocalStorageForContract()));
//
// For tests only.

#ifndef CLIENTS_STORAGE_STORAGE_CONTRACT_H_
#define CLIENTS_STORAGE_STORAGE_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "gtest/gtest.h"

namespace bimbackup::storage {

// A storage under test, with what keeps it alive.
class StorageFixture {
 public:
  virtual ~StorageFixture() = default;
  virtual Storage& storage() = 0;
  // The same storage, opened again as by another process.
  virtual std::unique_ptr<Storage> OpenAgain() = 0;
  // The same storage, opened again for reading alone.
  virtual std::unique_ptr<Storage> OpenReadOnly() = 0;
};

using MakeStorageFixture = std::function<std::unique_ptr<StorageFixture>()>;

class StorageContractTest : public testing::TestWithParam<MakeStorageFixture> {
 protected:
  StorageContractTest() : fixture_(GetParam()()) {}

  Storage& storage() { return fixture_->storage(); }

  std::unique_ptr<StorageFixture> fixture_;
};

// Commits and waits; DEADLINE_EXCEEDED after a minute.
absl::Status CommitAndWait(BlobWriter& writer, absl::string_view sha256,
                           int64_t size);

// Stores `bytes` as the blob of `storage_urn`; returns its digest.
std::string PutBlob(Storage& storage, absl::string_view storage_urn,
                    absl::string_view bytes);

// Everything a reader has.
std::string ReadAll(ObjectReader& reader);

// Stores `bytes` under `key`.
absl::Status PutObject(Storage& storage, absl::string_view key,
                       absl::string_view bytes);

}  // namespace bimbackup::storage

#endif  // CLIENTS_STORAGE_STORAGE_CONTRACT_H_
