// What is left of a storage in a folder, opened for reading alone.

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "clients/storage/storage_contract.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class ReadOnlyStorageTest : public testing::Test {
 protected:
  ReadOnlyStorageTest() {
    OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    const auto storage = *OpenStorage(options);
    id_ = storage->id();
    sha256_ = PutBlob(*storage, "urn:a", "hello");
    EXPECT_OK(PutObject(*storage, "snapshots/a.json", "{}"));
  }

  absl::StatusOr<std::unique_ptr<Storage>> Open(std::string expected_id = "") {
    OpenOptions options;
    options.url = folder_.path();
    options.read_only = true;
    options.expected_id = std::move(expected_id);
    return OpenStorage(options);
  }

  void Remove(const std::string& name) {
    std::filesystem::remove_all(folder_ / name);
  }

  void ExpectReadable() {
    ASSERT_OK_AND_ASSIGN(const auto storage, Open());
    EXPECT_THAT(storage->GetBlobSize(sha256_), IsOkAndHolds(5));
    ASSERT_OK_AND_ASSIGN(const auto snapshot,
                         storage->OpenObject("snapshots/a.json"));
    EXPECT_EQ(ReadAll(*snapshot), "{}");
    ASSERT_OK_AND_ASSIGN(const ObjectPage page, storage->List("", ""));
    EXPECT_THAT(page.entries, SizeIs(2));
    EXPECT_OK(storage->CheckMarker());
  }

  TempFolder folder_;
  std::string id_;
  std::string sha256_;
};

TEST_F(ReadOnlyStorageTest, NeedsSnapshotsManifestsAndBlobsAlone) {
  Remove("bimbackup.json");
  Remove("tmp");
  ExpectReadable();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "tmp"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bimbackup.json"));
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  EXPECT_EQ(storage->id(), "");
}

TEST_F(ReadOnlyStorageTest, TellsTheMarkersId) {
  ASSERT_OK_AND_ASSIGN(const auto storage, Open(id_));
  EXPECT_EQ(storage->id(), id_);
  EXPECT_THAT(Open("other"), StatusIs(absl::StatusCode::kFailedPrecondition,
                                      HasSubstr("another one")));
}

TEST_F(ReadOnlyStorageTest, WithoutMarkerItIsNoExpectedStorage) {
  Remove("bimbackup.json");
  EXPECT_THAT(Open(id_), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ReadOnlyStorageTest, ADamagedMarkerKeepsNothingFromBeingRead) {
  Remove("bimbackup.json");
  WriteWholeFile(folder_ / "bimbackup.json", "{\"form");
  ExpectReadable();
}

TEST_F(ReadOnlyStorageTest, ANewerFormatIsRefused) {
  Remove("bimbackup.json");
  WriteWholeFile(folder_ / "bimbackup.json",
                 "{\"format\":2,\"storage_id\":\"x\"}");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("newer bimbackup")));
}

TEST_F(ReadOnlyStorageTest, AFolderOfOtherThingsIsRefused) {
  for (const char* name :
       {"bimbackup.json", "blobs", "manifests", "snapshots"}) {
    Remove(name);
  }
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("is it mounted?")));
}

TEST_F(ReadOnlyStorageTest, NoticesThatItVanished) {
  Remove("bimbackup.json");
  ASSERT_OK_AND_ASSIGN(const auto storage, Open());
  for (const char* name : {"blobs", "manifests", "snapshots"}) Remove(name);
  EXPECT_THAT(storage->CheckMarker(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ReadOnlyStorageTest, ItsFolderNeedNotBeWritable) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  // The superuser may write anywhere; nobody else may.
  const bool is_root = geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(seteuid(is_root ? kNobody : geteuid()), 0);
  ExpectReadable();
  ASSERT_EQ(seteuid(is_root ? 0 : geteuid()), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
}

// Whether the calling thread now sees the folder through a mount of its own
// that is read-only.
bool MountReadOnly(const std::string& path) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY,
               nullptr) == 0;
}

TEST_F(ReadOnlyStorageTest, AReadOnlyMountWillDo) {
  bool mounted = false;
  // The mount is the thread's and ends with it.
  std::thread([&] {
    mounted = MountReadOnly(folder_.path());
    if (!mounted) return;
    OpenOptions writing;
    writing.url = folder_.path();
    EXPECT_THAT(OpenStorage(writing), Not(absl_testing::IsOk()));
    ExpectReadable();
  }).join();
  if (!mounted) GTEST_SKIP() << "this user may mount nothing";
}

}  // namespace
}  // namespace bimbackup::storage
