// What every Storage must do when something goes away, or aside, or may not
// be touched.

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "clients/storage/storage_contract.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::IsEmpty;

TEST_P(StorageContractTest, ARemovedObjectIsGoneAndMayComeAgain) {
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "one"));
  ASSERT_OK(PutObject(storage(), "snapshots/b.json", "other"));
  ASSERT_OK(storage().RemoveObject("snapshots/a.json"));
  EXPECT_THAT(storage().ObjectExists("snapshots/a.json"), IsOkAndHolds(false));
  EXPECT_THAT(storage().ObjectExists("snapshots/b.json"), IsOkAndHolds(true));
  EXPECT_OK(PutObject(storage(), "snapshots/a.json", "two"));
}

TEST_P(StorageContractTest, WhatIsNotThereMayBeRemoved) {
  EXPECT_OK(storage().RemoveObject("snapshots/a.json"));
  EXPECT_OK(storage().RemoveObject("manifests/sha256/abc/no.jsonl.zst"));
  EXPECT_OK(storage().RemoveBlob(Sha256Hex("x")));
  EXPECT_OK(storage().SetAsideBlob(Sha256Hex("x")));
}

TEST_P(StorageContractTest, OnlyObjectsAndBlobsCanBeRemoved) {
  for (const char* key :
       {"", "bimbackup.json", "snapshots", "snapshots/../bimbackup.json",
        "latest/a", "blobs/sha256/abc/x"}) {
    EXPECT_THAT(storage().RemoveObject(key),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << key;
  }
  for (const char* sha256 : {"", "abc", "../../bimbackup.json"}) {
    EXPECT_THAT(storage().RemoveBlob(sha256),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(storage().SetAsideBlob(sha256),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_OK(storage().CheckMarker());
}

TEST_P(StorageContractTest, ARemovedBlobIsGoneAndMayComeAgain) {
  const std::string sha256 = PutBlob(storage(), "urn:a", "hello");
  const std::string other = PutBlob(storage(), "urn:b", "other");
  ASSERT_OK(storage().RemoveBlob(sha256));
  EXPECT_THAT(storage().GetBlobSize(sha256),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().GetBlobSize(other), IsOkAndHolds(5));
  EXPECT_EQ(PutBlob(storage(), "urn:a", "hello"), sha256);
  EXPECT_THAT(storage().GetBlobSize(sha256), IsOkAndHolds(5));
}

TEST_P(StorageContractTest, ABlobThatWasSetAsideMakesRoomForGoodBytes) {
  // Bytes of the right size under a digest that is not theirs.
  const std::string sha256 = Sha256Hex("hello");
  for (const char* wrong : {"hallo", "hullo"}) {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    ASSERT_OK(writer->WriteAt(0, wrong));
    ASSERT_OK(CommitAndWait(*writer, sha256, 5));
    ASSERT_OK(storage().SetAsideBlob(sha256));
    EXPECT_THAT(storage().OpenBlob(sha256),
                StatusIs(absl::StatusCode::kNotFound));
  }
  PutBlob(storage(), "urn:a", "hello");
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenBlob(sha256));
  EXPECT_EQ(ReadAll(*reader), "hello");
  ASSERT_OK_AND_ASSIGN(const ObjectPage page, storage().List("", ""));
  EXPECT_EQ(page.entries.size(), 1);
}

TEST_P(StorageContractTest, ObjectsOfEveryKindAreListed) {
  for (const char* key :
       {"catalog/catalog.db.zst", "manifests/sha256/abc/d.jsonl.zst",
        "protected/a.json", "snapshots/a.json"}) {
    ASSERT_OK(PutObject(storage(), key, "12"));
    ASSERT_OK_AND_ASSIGN(const ObjectPage page, storage().List(key, ""));
    EXPECT_EQ(page.entries.size(), 1) << key;
  }
  ASSERT_OK_AND_ASSIGN(const ObjectPage page, storage().List("", ""));
  EXPECT_EQ(page.entries.size(), 4);
}

TEST_P(StorageContractTest,
       AListingTellsWhenSomethingCameWhateverTheViewShows) {
  // File systems keep time more coarsely than clocks do.
  constexpr absl::Duration kCoarse = absl::Seconds(2);
  const absl::Time before = absl::Now() - kCoarse;
  const std::string sha256 = PutBlob(storage(), "urn:a", "hello");
  const auto view = storage().OpenLatestView();
  if (view.ok()) {
    ASSERT_OK((*view)->PutFile("a", sha256, absl::FromUnixSeconds(1e9)));
  }
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "{}"));
  ASSERT_OK_AND_ASSIGN(const ObjectPage page, storage().List("", ""));
  ASSERT_EQ(page.entries.size(), 2);
  for (const ObjectPage::Entry& entry : page.entries) {
    EXPECT_GE(entry.modified, before) << entry.key;
    EXPECT_LE(entry.modified, absl::Now() + kCoarse) << entry.key;
  }
}

TEST_P(StorageContractTest, AReadOnlyStorageReadsEverything) {
  const std::string sha256 = PutBlob(storage(), "urn:a", "hello");
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "{}"));
  const auto reading = fixture_->OpenReadOnly();
  EXPECT_EQ(reading->id(), storage().id());
  EXPECT_OK(reading->CheckMarker());
  EXPECT_OK(reading->GetCapacity());
  EXPECT_THAT(reading->GetBlobSize(sha256), IsOkAndHolds(5));
  ASSERT_OK_AND_ASSIGN(auto blob, reading->OpenBlob(sha256));
  EXPECT_EQ(ReadAll(*blob), "hello");
  ASSERT_OK_AND_ASSIGN(auto object, reading->OpenObject("snapshots/a.json"));
  EXPECT_EQ(ReadAll(*object), "{}");
  EXPECT_THAT(reading->ObjectExists("snapshots/a.json"), IsOkAndHolds(true));
  ASSERT_OK_AND_ASSIGN(const ObjectPage page, reading->List("", ""));
  EXPECT_EQ(page.entries.size(), 2);
}

TEST_P(StorageContractTest, AReadOnlyStorageWritesNothing) {
  const std::string sha256 = PutBlob(storage(), "urn:a", "hello");
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "{}"));
  const auto reading = fixture_->OpenReadOnly();
  const auto refused = StatusIs(absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(reading->OpenBlobWriter("urn:b"), refused);
  EXPECT_THAT(reading->OpenObjectWriter(), refused);
  EXPECT_THAT(reading->OpenLatestView(), refused);
  EXPECT_THAT(reading->RemoveBlob(sha256), refused);
  EXPECT_THAT(reading->SetAsideBlob(sha256), refused);
  EXPECT_THAT(reading->RemoveObject("snapshots/a.json"), refused);
  EXPECT_THAT(reading->SweepTemporary(absl::ZeroDuration()), refused);
  EXPECT_THAT(storage().GetBlobSize(sha256), IsOkAndHolds(5));
  EXPECT_THAT(storage().ObjectExists("snapshots/a.json"), IsOkAndHolds(true));
}

}  // namespace
}  // namespace bimbackup::storage
