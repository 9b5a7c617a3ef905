#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/catalog_contract.h"

// What the contract says of damage and its mending.

namespace bimbackup::catalog {

using absl_testing::IsOkAndHolds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

const char kGood[] =
    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";
const char kOther[] =
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";

TransferUpdate Stored(int64_t id, const std::string& sha256) {
  TransferUpdate update;
  update.transfer_id = id;
  update.state = TransferState::kStored;
  update.sha256 = sha256;
  update.size = 120;
  return update;
}

DamagedBlob Damaged(const std::string& urn) {
  DamagedBlob blob;
  blob.sha256 = kGood;
  blob.storage_urn = urn;
  blob.size = 120;
  blob.project_id = "b.1";
  blob.project_name = "Tower";
  blob.item_id = "old item";
  blob.path = {"Plans", "old name"};
  return blob;
}

BackupNumber Begin(Catalog& catalog, const FileFilter& wanted = nullptr) {
  const absl::StatusOr<BackupRecord> backup = catalog.CreateBackup({});
  EXPECT_OK(backup);
  EXPECT_OK(catalog.BeginCrawl(backup->number, wanted));
  return backup->number;
}

std::vector<TransferRecord> Pending(Catalog& catalog, BackupNumber backup) {
  return catalog.ListPending(backup, 0, 10).value();
}

// Stores everything that is asked for, with these bytes.
void StoreAll(Catalog& catalog, BackupNumber backup,
              const std::string& sha256) {
  for (const TransferRecord& transfer : Pending(catalog, backup)) {
    EXPECT_OK(
        catalog.ApplyUpdates(backup, {Stored(transfer.transfer_id, sha256)}));
  }
}

BackupCounters Counters(Catalog& catalog, BackupNumber backup) {
  return catalog.ListBackups(backup + 1, 1)->at(0).counters;
}

TEST_P(CatalogContract, ADamagedBlobIsAskedForByTheNextBackup) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Item("i1", "urn1"), Item("i2", "urn2")});
  StoreAll(*catalog_, first, kGood);
  EndBackup(first);
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("urn1")), IsOkAndHolds(true));
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("urn1")), IsOkAndHolds(true));
  EXPECT_EQ(catalog_->ListChildren("b.1", "root")->files[0].sha256, kGood);
  Reopen();

  const BackupNumber second = Begin(*catalog_);
  const auto pending = Pending(*catalog_, second);
  // Both files had these bytes.
  ASSERT_THAT(pending, SizeIs(2));
  EXPECT_EQ(pending[0].storage_urn, "urn1");
  EXPECT_THAT(pending[0].path, ElementsAre("name of i1"));
  EXPECT_EQ(pending[1].storage_urn, "urn2");
  EXPECT_EQ(catalog_->ListChildren("b.1", "root")->files[0].sha256, "");
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(IsEmpty()));
  StoreAll(*catalog_, second, kGood);
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(ElementsAre(kGood)));
  EXPECT_EQ(Counters(*catalog_, second).transfers_stored, 2);
  EXPECT_EQ(Counters(*catalog_, second).transfers_failed, 0);
  ASSERT_OK(catalog_->ForgetMended({kGood}));
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(IsEmpty()));
  EndBackup(second);

  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), IsEmpty());
}

TEST_P(CatalogContract, WhatOnlyAnOldSnapshotNamesIsAskedForAndNamed) {
  EndBackup(StartWithProject());
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("gone")), IsOkAndHolds(true));
  const BackupNumber backup = Begin(*catalog_);
  const auto pending = Pending(*catalog_, backup);
  ASSERT_THAT(pending, SizeIs(1));
  EXPECT_EQ(pending[0].storage_urn, "gone");
  EXPECT_EQ(pending[0].size, 120);
  TransferUpdate failed;
  failed.transfer_id = pending[0].transfer_id;
  failed.state = TransferState::kFailed;
  failed.reason = "404";
  ASSERT_OK(catalog_->ApplyUpdates(backup, {failed}));
  ASSERT_OK_AND_ASSIGN(const auto records,
                       catalog_->ListTransfers(backup, true, 0, 10));
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].project_name, "Tower");
  EXPECT_EQ(records[0].item_id, "old item");
  EXPECT_THAT(records[0].path, ElementsAre("Plans", "old name"));
  EXPECT_EQ(Counters(*catalog_, backup).transfers_failed, 1);
}

TEST_P(CatalogContract, MendingWhatOnlyAnOldSnapshotNamesIsGivenUp) {
  EndBackup(StartWithProject());
  ASSERT_OK(catalog_->RecordDamagedBlob(Damaged("gone")));
  for (int i = 0; i < kMaxMendingBackups; ++i) {
    const BackupNumber backup = Begin(*catalog_);
    EXPECT_THAT(Pending(*catalog_, backup), SizeIs(1));
    ASSERT_OK(catalog_->FailOpen(backup, "404"));
    EndBackup(backup);
  }
  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), IsEmpty());
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("gone")),
              IsOkAndHolds(false));
}

TEST_P(CatalogContract, MendingWhatAFileStillHasIsNeverGivenUp) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Item("i1", "urn1")});
  StoreAll(*catalog_, first, kGood);
  EndBackup(first);
  ASSERT_OK(catalog_->RecordDamagedBlob(Damaged("urn1")));
  for (int i = 0; i <= kMaxMendingBackups; ++i) {
    const BackupNumber backup = Begin(*catalog_);
    EXPECT_THAT(Pending(*catalog_, backup), SizeIs(1));
    ASSERT_OK(catalog_->FailOpen(backup, "503"));
    EndBackup(backup);
  }
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("urn1")), IsOkAndHolds(true));
  const BackupNumber last = Begin(*catalog_);
  StoreAll(*catalog_, last, kGood);
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(ElementsAre(kGood)));
}

TEST_P(CatalogContract, OtherBytesThanThoseThatWereDamagedAreAFailure) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Item("i1", "urn1")});
  StoreAll(*catalog_, first, kGood);
  EndBackup(first);
  ASSERT_OK(catalog_->RecordDamagedBlob(Damaged("urn1")));

  const BackupNumber second = Begin(*catalog_);
  StoreAll(*catalog_, second, kOther);
  EXPECT_THAT(catalog_->CountOpen(second), IsOkAndHolds(0));
  EXPECT_EQ(Counters(*catalog_, second).transfers_failed, 1);
  EXPECT_EQ(Counters(*catalog_, second).transfers_stored, 0);
  ASSERT_OK_AND_ASSIGN(const auto records,
                       catalog_->ListTransfers(second, true, 0, 10));
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].path, ElementsAre("name of i1"));
  EXPECT_THAT(records[0].reason, HasSubstr(kGood));
  EXPECT_THAT(records[0].reason, HasSubstr(kOther));
  // What came is kept as what the file has now.
  EXPECT_EQ(catalog_->ListChildren("b.1", "root")->files[0].sha256, kOther);
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(IsEmpty()));
  EndBackup(second);

  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("urn1")),
              IsOkAndHolds(false));
  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), IsEmpty());
}

TEST_P(CatalogContract, AFilterLeavesTheDamageOfOthersToALaterBackup) {
  EndBackup(StartWithProject());
  ASSERT_OK(catalog_->RecordDamagedBlob(Damaged("gone")));
  std::vector<std::string> asked;
  const BackupNumber filtered = Begin(
      *catalog_,
      [&](absl::string_view project, const std::vector<std::string>& path) {
        EXPECT_EQ(project, "b.1");
        asked = path;
        return false;
      });
  EXPECT_THAT(asked, ElementsAre("Tower", "Plans", "old name"));
  EXPECT_THAT(Pending(*catalog_, filtered), IsEmpty());
  EndBackup(filtered);
  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), SizeIs(1));
}

TEST_P(CatalogContract, ABlobOfUnknownOriginIsNotAskedFor) {
  EndBackup(StartWithProject());
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("")), IsOkAndHolds(false));
  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), IsEmpty());
}

TEST_P(CatalogContract, AMendedBlobMayBeDamagedAgain) {
  EndBackup(StartWithProject());
  ASSERT_OK(catalog_->RecordDamagedBlob(Damaged("gone")));
  const BackupNumber backup = Begin(*catalog_);
  StoreAll(*catalog_, backup, kGood);
  EndBackup(backup);
  EXPECT_THAT(catalog_->RecordDamagedBlob(Damaged("gone")), IsOkAndHolds(true));
  EXPECT_THAT(catalog_->ListMended(10), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(Pending(*catalog_, Begin(*catalog_)), SizeIs(1));
}

TEST_P(CatalogContract, ADamagedManifestOfTodayIsToBeWrittenAgain) {
  const BackupNumber backup = StartWithProject();
  EndBackup(backup);
  ASSERT_OK(catalog_->SetManifest(backup, "b.1", kGood, true));
  ASSERT_FALSE(catalog_->GetProject("b.1")->changed);
  EXPECT_THAT(catalog_->RecordDamagedManifest(kOther), IsOkAndHolds(false));
  EXPECT_FALSE(catalog_->GetProject("b.1")->changed);
  EXPECT_THAT(catalog_->RecordDamagedManifest(kGood), IsOkAndHolds(true));
  EXPECT_TRUE(catalog_->GetProject("b.1")->changed);
}

}  // namespace
}  // namespace bimbackup::catalog
