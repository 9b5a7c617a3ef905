// What every RestoreSource must do, as tests. A test program of an
// implementation links the object library restore_contract and instantiates
// the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Storage, SourceContractTest,
//                            testing::Values(MakeStorageSource));
//
// For tests only.

#ifndef CLIENTS_RESTORE_SOURCE_CONTRACT_H_
#define CLIENTS_RESTORE_SOURCE_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clients/restore/restore_source.h"
#include "clients/snapshots/snapshots_fixture.h"
#include "clients/storage/storage.h"
#include "gtest/gtest.h"

namespace bimbackup::restore {

// A source under test, with what keeps it alive.
class SourceFixture {
 public:
  virtual ~SourceFixture() = default;
  virtual RestoreSource& source() = 0;
};

// Makes one over a storage that outlives it.
using MakeSourceFixture =
    std::function<std::unique_ptr<SourceFixture>(storage::Storage&)>;

class SourceContractTest : public testing::TestWithParam<MakeSourceFixture> {
 protected:
  // What a stream gave.
  struct Listing {
    absl::Status status;
    // "<snapshot's last digit> <stored path>#<version>".
    std::vector<std::string> entries;
    std::vector<std::string> damage;
    int64_t files = 0;
    int64_t bytes = 0;
  };

  SourceContractTest() : fixture_(GetParam()(storage_.storage())) {}

  RestoreSource& source() { return fixture_->source(); }

  Listing List(const Selection& selection);
  Listing ListPaths(const std::vector<std::string>& paths);
  // A blob's bytes, or how the call failed.
  absl::StatusOr<std::string> ReadBlob(const std::string& sha256,
                                       int64_t offset);

  snapshots::SnapshotsFixture storage_;
  std::unique_ptr<SourceFixture> fixture_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_SOURCE_CONTRACT_H_
