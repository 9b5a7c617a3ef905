#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "clients/storage/faulty_storage.h"
#include "clients/storage/storage.h"
#include "clients/storage/storage_contract.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage {
namespace {

using ::absl_testing::StatusIs;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Storage>> Open(const std::string& url,
                                              bool create,
                                              std::string expected_id = "") {
  OpenOptions options;
  options.url = url;
  options.create = create;
  options.expected_id = std::move(expected_id);
  return OpenStorage(options);
}

class LocalFixture : public StorageFixture {
 public:
  LocalFixture() : storage_(*Open(folder_.path(), true)) {}
  Storage& storage() override { return *storage_; }
  std::unique_ptr<Storage> OpenAgain() override {
    return *Open(folder_.path(), false);
  }
  std::unique_ptr<Storage> OpenReadOnly() override {
    OpenOptions options;
    options.url = folder_.path();
    options.read_only = true;
    return *OpenStorage(options);
  }

 private:
  TempFolder folder_;
  std::unique_ptr<Storage> storage_;
};

// The decorator keeps the contract, too, as long as nothing is to fail.
class FaultyFixture : public LocalFixture {
 public:
  Storage& storage() override { return faulty_; }

 private:
  FaultyStorage faulty_{LocalFixture::storage()};
};

INSTANTIATE_TEST_SUITE_P(
    Local, StorageContractTest,
    testing::Values(MakeStorageFixture(std::make_unique<LocalFixture>)));
INSTANTIATE_TEST_SUITE_P(
    Faulty, StorageContractTest,
    testing::Values(MakeStorageFixture(std::make_unique<FaultyFixture>)));

TEST(OpenStorageTest, MakesTheLayoutInAnEmptyFolder) {
  TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto storage, Open("file://" + folder.path(), true));
  EXPECT_EQ(ReadWholeFile(folder / "bimbackup.json"),
            "{\"format\":1,\"storage_id\":\"" + storage->id() + "\"}\n");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "blobs/sha256/000"));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "blobs/sha256/fff"));
}

TEST(OpenStorageTest, MakesTheFolderItselfWhereItsParentStands) {
  TempFolder folder;
  EXPECT_OK(Open("file://" + (folder / "my%20backup"), true));
  EXPECT_TRUE(std::filesystem::exists(folder / "my backup/bimbackup.json"));
}

TEST(OpenStorageTest, AFolderWithoutMarkerIsRefused) {
  TempFolder folder;
  EXPECT_THAT(Open(folder.path(), false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no bimbackup.json")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OpenStorageTest, AFolderOfOtherFilesIsRefused) {
  TempFolder folder;
  WriteWholeFile(folder / "letter.txt", "dear");
  EXPECT_THAT(
      Open(folder.path(), true),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("letter.txt")));
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp"));
}

TEST(OpenStorageTest, ACreationThatWasInterruptedIsFinished) {
  TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto storage, Open(folder.path(), true));
  const std::string id = storage->id();
  storage.reset();
  std::filesystem::remove_all(folder / "blobs/sha256/fff");
  std::filesystem::remove_all(folder / "blobs/sha256/123");
  ASSERT_OK_AND_ASSIGN(storage, Open(folder.path(), true));
  EXPECT_EQ(storage->id(), id);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "blobs/sha256/123"));
}

TEST(OpenStorageTest, AnotherStorageIsRefused) {
  TempFolder folder;
  ASSERT_OK(Open(folder.path(), true));
  EXPECT_THAT(Open(folder.path(), false, "other"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another one")));
}

TEST(OpenStorageTest, ANewerFormatIsRefused) {
  TempFolder folder;
  WriteWholeFile(folder / "bimbackup.json",
                 "{\"format\":2,\"storage_id\":\"x\"}");
  EXPECT_THAT(Open(folder.path(), true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("newer bimbackup")));
  EXPECT_FALSE(std::filesystem::exists(folder / "blobs"));
}

TEST(OpenStorageTest, ADamagedMarkerIsRefused) {
  for (const char* text :
       {"", "{", "[]", "{\"format\":\"one\"}", "{\"format\":1}",
        "{\"format\":1,\"storage_id\":3}"}) {
    TempFolder folder;
    WriteWholeFile(folder / "bimbackup.json", text);
    EXPECT_THAT(Open(folder.path(), true),
                StatusIs(absl::StatusCode::kFailedPrecondition))
        << text;
  }
}

TEST(OpenStorageTest, WhatIsNoFolderIsRefused) {
  TempFolder folder;
  WriteWholeFile(folder / "file", "x");
  EXPECT_THAT(Open(folder / "file", true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not a folder")));
  EXPECT_THAT(Open(folder / "none", false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("does not exist")));
  EXPECT_THAT(Open(folder / "none/deeper", true),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(OpenStorageTest, UnknownUrlsAndModesAreRefused) {
  for (const char* url : {"", "backup", "s3://bucket", "file://host/x"}) {
    EXPECT_THAT(Open(url, true), StatusIs(absl::StatusCode::kInvalidArgument))
        << url;
  }
  TempFolder folder;
  OpenOptions options;
  options.url = folder.path();
  options.create = true;
  options.latest = "symlink";
  EXPECT_THAT(OpenStorage(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OpenStorageTest, AnUnwritableFolderIsRefused) {
  TempFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  // The superuser may write anywhere; nobody else may.
  const bool is_root = geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(seteuid(is_root ? kNobody : geteuid()), 0);
  const absl::Status opened = Open(folder.path(), true).status();
  ASSERT_EQ(seteuid(is_root ? 0 : geteuid()), 0);
  EXPECT_THAT(opened, StatusIs(absl::StatusCode::kPermissionDenied,
                               HasSubstr("cannot write to storage")));
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
}

TEST(OpenStorageTest, AMarkerThatVanishesIsNoticed) {
  TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto storage, Open(folder.path(), true));
  std::filesystem::rename(folder / "bimbackup.json", folder / "hidden");
  EXPECT_THAT(storage->CheckMarker(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  WriteWholeFile(folder / "bimbackup.json",
                 "{\"format\":1,\"storage_id\":\"another\"}");
  EXPECT_THAT(storage->CheckMarker(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another one")));
}

TEST(OpenStorageTest, CapacityIsKnown) {
  TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto storage, Open(folder.path(), true));
  ASSERT_OK_AND_ASSIGN(const Capacity capacity, storage->GetCapacity());
  EXPECT_GT(capacity.total_bytes, 0);
  EXPECT_LE(capacity.free_bytes, capacity.total_bytes);
}

TEST(FaultyStorageTest, FailsWhatItIsToldToAndRecovers) {
  LocalFixture local;
  FaultyStorage storage(local.storage());
  storage.faults().Fail(StorageCall::kWriteAt, absl::UnavailableError("x"),
                        /*after=*/1, /*times=*/1);
  ASSERT_OK_AND_ASSIGN(auto writer, storage.OpenBlobWriter("urn:a"));
  EXPECT_OK(writer->WriteAt(0, "a"));
  EXPECT_THAT(writer->WriteAt(0, "a"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_OK(writer->WriteAt(0, "a"));
  EXPECT_EQ(storage.faults().calls(StorageCall::kWriteAt), 3);

  storage.faults().SetReadOnly();
  const auto refused = StatusIs(absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(storage.RemoveBlob(Sha256Hex("a")), refused);
  EXPECT_THAT(storage.SetAsideBlob(Sha256Hex("a")), refused);
  EXPECT_THAT(storage.RemoveObject("snapshots/a.json"), refused);
  storage.faults().SetFull();
  EXPECT_THAT(CommitAndWait(*writer, Sha256Hex("a"), 1),
              StatusIs(absl::StatusCode::kResourceExhausted));
  storage.faults().SetVanished();
  EXPECT_THAT(storage.CheckMarker(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  storage.faults().Clear();
  EXPECT_OK(CommitAndWait(*writer, Sha256Hex("a"), 1));
}

}  // namespace
}  // namespace bimbackup::storage
