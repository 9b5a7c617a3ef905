#include "clients/restore/storage_source.h"

#include "clients/restore/source_contract.h"

namespace bimbackup::restore {
namespace {

class StorageSourceFixture : public SourceFixture {
 public:
  explicit StorageSourceFixture(storage::Storage& storage) : source_(storage) {}
  RestoreSource& source() override { return source_; }

 private:
  StorageSource source_;
};

std::unique_ptr<SourceFixture> MakeStorageSource(storage::Storage& storage) {
  return std::make_unique<StorageSourceFixture>(storage);
}

INSTANTIATE_TEST_SUITE_P(Storage, SourceContractTest,
                         testing::Values(MakeStorageSource));

}  // namespace
}  // namespace bimbackup::restore
