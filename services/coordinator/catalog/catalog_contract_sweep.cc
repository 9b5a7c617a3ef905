#include "gmock/gmock.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/catalog_contract.h"

// What the contract says of blobs that no manifest names.

namespace bimbackup::catalog {

using absl_testing::IsOkAndHolds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

const std::string kFirst(64, '1');
const std::string kSecond(64, '2');

// Reports the one pending transfer as stored under `sha256`.
void StorePending(Catalog& catalog, BackupNumber backup,
                  const std::string& sha256) {
  ASSERT_OK_AND_ASSIGN(const auto pending, catalog.ListPending(backup, 0, 10));
  ASSERT_THAT(pending, SizeIs(1));
  TransferUpdate update;
  update.transfer_id = pending[0].transfer_id;
  update.state = TransferState::kStored;
  update.sha256 = sha256;
  update.size = 10;
  ASSERT_OK(catalog.ApplyUpdates(backup, {update}));
}

ListedItem Version(ListedItem item, int number) {
  item.item.version_number = number;
  item.item.version_id += std::to_string(number);
  return item;
}

TEST_P(CatalogContract, BlobOfATipIsNeeded) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1")});
  StorePending(*catalog_, backup, kFirst);
  EXPECT_THAT(catalog_->ListNeeded({kSecond, kFirst}),
              IsOkAndHolds(ElementsAre(kFirst)));
  EXPECT_THAT(catalog_->ForgetUnneeded({kSecond, kFirst}),
              IsOkAndHolds(ElementsAre(kFirst)));
  ASSERT_OK_AND_ASSIGN(const FolderChildren children,
                       catalog_->ListChildren("b.1", "root"));
  EXPECT_EQ(children.files[0].sha256, kFirst);
}

TEST_P(CatalogContract, FormerVersionIsNeededWhileTheTipIsNotStored) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Version(Item("i1", "urn1"), 1)});
  StorePending(*catalog_, first, kFirst);
  EndBackup(first);
  const BackupNumber second = StartWithProject();
  ListFolder(second, "root", {}, {Version(Item("i1", "urn2"), 2)});
  EXPECT_THAT(catalog_->ForgetUnneeded({kFirst}),
              IsOkAndHolds(ElementsAre(kFirst)));
  StorePending(*catalog_, second, kSecond);
  EXPECT_THAT(catalog_->ForgetUnneeded({kFirst, kSecond}),
              IsOkAndHolds(ElementsAre(kSecond)));
}

TEST_P(CatalogContract, ForgottenBytesAreFetchedAgainInTheSameBackup) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Version(Item("i1", "urn1"), 1)});
  StorePending(*catalog_, first, kFirst);
  EndBackup(first);
  const BackupNumber second = StartWithProject();
  ListFolder(second, "root", {Folder("a", "1")},
             {Version(Item("i1", "urn2"), 2)});
  StorePending(*catalog_, second, kSecond);
  EXPECT_THAT(catalog_->ForgetUnneeded({kFirst}), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(catalog_->ForgetUnneeded({kFirst}), IsOkAndHolds(IsEmpty()));
  ListFolder(second, "a", {}, {Item("i2", "urn1")});
  StorePending(*catalog_, second, kFirst);
  EXPECT_THAT(catalog_->ListNeeded({kFirst, kSecond}),
              IsOkAndHolds(ElementsAre(kFirst, kSecond)));
}

}  // namespace
}  // namespace bimbackup::catalog
