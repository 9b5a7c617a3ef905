#include "clients/storage/storage_probe.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "clients/storage/faulty_storage.h"
#include "clients/storage/storage.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

class StorageProbeTest : public testing::Test {
 protected:
  StorageProbeTest() {
    OpenOptions options;
    options.url = root_;
    options.create = true;
    storage_ = *OpenStorage(options);
  }

  absl::Status Put(const std::string& bytes) {
    auto writer = storage_->OpenBlobWriter("urn:" + bytes);
    if (!writer.ok()) return writer.status();
    if (absl::Status status = (*writer)->WriteAt(0, bytes); !status.ok()) {
      return status;
    }
    Mutex mutex;
    CondVar changed;
    std::optional<absl::Status> result;
    (*writer)->Commit(Sha256Hex(bytes), static_cast<int64_t>(bytes.size()),
                      [&](absl::Status status) {
                        MutexLock lock(mutex);
                        result = std::move(status);
                        changed.NotifyAll();
                      });
    MutexLock lock(mutex);
    while (!result.has_value()) changed.Wait(mutex);
    return *result;
  }

  TempFolder folder_;
  const std::string root_ = folder_.path() + "/storage";
  std::unique_ptr<Storage> storage_;
};

TEST_F(StorageProbeTest, LeavesNothingInAStorageThatIsWell) {
  EXPECT_THAT(ProbeStorage(*storage_, 0), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(root_ + "/tmp"));
}

TEST_F(StorageProbeTest, AsksForAsMuchRoomAsIsNeeded) {
  const int64_t free = *storage_->GetCapacity()->free_bytes;
  EXPECT_THAT(ProbeStorage(*storage_, free / 2), IsOk());
  EXPECT_THAT(ProbeStorage(*storage_, 2 * free),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("MiB are needed")));
}

TEST_F(StorageProbeTest, FindsWhatOnlyWritingShows) {
  FaultyStorage faulty(*storage_);
  faulty.faults().SetReadOnly();
  const absl::Status read_only = ProbeStorage(faulty, 0);
  EXPECT_THAT(read_only, StatusIs(absl::StatusCode::kPermissionDenied,
                                  HasSubstr("cannot be written")));
  EXPECT_TRUE(IsStorageClosed(read_only));
  faulty.faults().Clear();
  faulty.faults().SetFull();
  EXPECT_THAT(ProbeStorage(faulty, 0),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(StorageProbeTest, FollowsAStorageThatWasMountedAnew) {
  // Away, and a copy of it in its place: what a mount does to a path.
  ASSERT_THAT(Put("before"), IsOk());
  std::filesystem::rename(root_, root_ + ".away");
  std::filesystem::create_directory(root_);
  EXPECT_THAT(ProbeStorage(*storage_, 0),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  std::filesystem::copy(root_ + ".away/bimbackup.json",
                        root_ + "/bimbackup.json");
  std::filesystem::create_directory(root_ + "/tmp");
  EXPECT_THAT(ProbeStorage(*storage_, 0), IsOk());
  ASSERT_THAT(storage_->GetBlobSize(Sha256Hex("before")),
              StatusIs(absl::StatusCode::kNotFound));
  std::filesystem::create_directories(root_ + "/blobs/sha256");
  EXPECT_THAT(Put("after"), IsOk());
  EXPECT_TRUE(std::filesystem::exists(root_ + "/blobs/sha256/" +
                                      Sha256Hex("after").substr(0, 3) + "/" +
                                      Sha256Hex("after")));
}

TEST_F(StorageProbeTest, PublishesNoPartOfAStorageThatWasReplaced) {
  auto writer = *storage_->OpenBlobWriter("urn:late");
  ASSERT_THAT(writer->WriteAt(0, "late"), IsOk());
  std::filesystem::rename(root_, root_ + ".away");
  std::filesystem::copy(root_ + ".away", root_,
                        std::filesystem::copy_options::recursive);
  ASSERT_THAT(storage_->CheckMarker(), IsOk());
  Mutex mutex;
  CondVar changed;
  std::optional<absl::Status> result;
  writer->Commit(Sha256Hex("late"), 4, [&](absl::Status status) {
    MutexLock lock(mutex);
    result = std::move(status);
    changed.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!result.has_value()) changed.Wait(mutex);
  EXPECT_THAT(*result, StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace bimbackup::storage
