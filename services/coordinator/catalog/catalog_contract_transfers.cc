#include "services/coordinator/catalog/catalog_contract.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "services/common/status_matchers.h"

// What the contract says of transfers, manifests and what is not listed.

namespace bimbackup::catalog {

using absl_testing::IsOkAndHolds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

TransferUpdate Stored(int64_t id) {
  TransferUpdate update;
  update.transfer_id = id;
  update.state = TransferState::kStored;
  update.sha256 = std::string(64, 'c');
  update.size = 120;
  return update;
}

TransferUpdate Failed(int64_t id, const std::string& reason) {
  TransferUpdate update;
  update.transfer_id = id;
  update.state = TransferState::kFailed;
  update.reason = reason;
  return update;
}

AttemptRecord Attempt(const std::string& message) {
  AttemptRecord attempt;
  attempt.end_time = absl::FromUnixSeconds(1'650'000'000);
  attempt.worker_id = "worker-1";
  attempt.outcome = 2;
  attempt.http_status = 503;
  attempt.bytes_received = 17;
  attempt.message = message;
  return attempt;
}

TEST_P(CatalogContract, TransferKnowsItsPlace) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {Folder("a", "1")}, {});
  ListFolder(backup, "a", {}, {Item("i1", "urn1"), Item("i2", "urn2")});
  ASSERT_OK_AND_ASSIGN(const auto pending,
                       catalog_->ListPending(backup, 0, 10));
  ASSERT_THAT(pending, SizeIs(2));
  EXPECT_EQ(pending[0].storage_urn, "urn1");
  EXPECT_EQ(pending[0].size, 100);
  EXPECT_EQ(pending[0].project_name, "Tower");
  EXPECT_EQ(pending[0].item_id, "i1");
  EXPECT_THAT(pending[0].path, ElementsAre("name of a", "name of i1"));
  EXPECT_THAT(catalog_->ListPending(backup, pending[0].transfer_id, 10),
              IsOkAndHolds(SizeIs(1)));
  EXPECT_THAT(catalog_->CountOpen(backup), IsOkAndHolds(2));
  EXPECT_THAT(catalog_->GetFolderPath("b.1", "a"),
              IsOkAndHolds(ElementsAre("name of a")));
}

TEST_P(CatalogContract, StoredObjectServesEveryFileThatHasIt) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1"), Item("i2", "urn1")});
  ASSERT_OK_AND_ASSIGN(const auto pending,
                       catalog_->ListPending(backup, 0, 10));
  ASSERT_THAT(pending, SizeIs(1));
  ASSERT_OK(catalog_->SetManifest(backup, "b.1", std::string(64, 'a'), true));
  const TransferUpdate update = Stored(pending[0].transfer_id);
  ASSERT_OK(catalog_->ApplyUpdates(backup, {update, update}));
  ASSERT_OK(catalog_->ApplyUpdates(backup, {update}));
  ASSERT_OK_AND_ASSIGN(const FolderChildren children,
                       catalog_->ListChildren("b.1", "root"));
  for (const FileRecord& file : children.files) {
    EXPECT_EQ(file.sha256, std::string(64, 'c'));
    EXPECT_EQ(file.size, 120);
  }
  EXPECT_TRUE(catalog_->GetProject("b.1")->changed);
  const BackupCounters counters =
      catalog_->GetRunningBackup()->value().counters;
  EXPECT_EQ(counters.transfers_stored, 1);
  EXPECT_EQ(counters.bytes_stored, 120);
  EXPECT_EQ(counters.manifests_written, 1);
  EXPECT_EQ(catalog_->GetTotals()->bytes, 240);
  EXPECT_THAT(catalog_->CountOpen(backup), IsOkAndHolds(0));
}

TEST_P(CatalogContract, LeasesSurviveARestart) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1"), Item("i2", "urn2")});
  const auto pending = *catalog_->ListPending(backup, 0, 10);
  ASSERT_OK(catalog_->RecordLeases({{pending[0].transfer_id, 41, "worker-1"}}));
  EXPECT_THAT(catalog_->ListPending(backup, 0, 10), IsOkAndHolds(SizeIs(1)));
  Reopen();
  ASSERT_OK_AND_ASSIGN(const auto leases, catalog_->ListLeases(backup));
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_EQ(leases[0].transfer_id, pending[0].transfer_id);
  EXPECT_EQ(leases[0].epoch, 41);
  EXPECT_EQ(leases[0].worker_id, "worker-1");
  TransferUpdate again;
  again.transfer_id = pending[0].transfer_id;
  again.attempt = Attempt("reset");
  ASSERT_OK(catalog_->ApplyUpdates(backup, {again}));
  EXPECT_THAT(catalog_->ListLeases(backup), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(catalog_->ListPending(backup, 0, 10), IsOkAndHolds(SizeIs(2)));
}

TEST_P(CatalogContract, KeepsTheNewestAttempts) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1")});
  const int64_t id = catalog_->ListPending(backup, 0, 1)->at(0).transfer_id;
  for (int i = 1; i <= 20; ++i) {
    TransferUpdate update;
    update.transfer_id = id;
    update.attempt = Attempt(absl::StrCat("try ", i));
    ASSERT_OK(catalog_->ApplyUpdates(backup, {update}));
  }
  ASSERT_OK_AND_ASSIGN(const auto attempts, catalog_->ListAttempts(id));
  ASSERT_THAT(attempts, SizeIs(16));
  EXPECT_EQ(attempts[0].message, "try 5");
  EXPECT_EQ(attempts[15].message, "try 20");
  EXPECT_EQ(attempts[15].worker_id, "worker-1");
  EXPECT_EQ(attempts[15].http_status, 503);
  EXPECT_EQ(attempts[15].bytes_received, 17);
  EXPECT_EQ(catalog_->GetTransfer(id)->attempts, 20);
}

TEST_P(CatalogContract, FailedTransferSaysWhyAndWhere) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {Folder("a", "1")}, {});
  ListFolder(backup, "a", {}, {Item("i1", "urn1"), Item("i2", "urn2")});
  const int64_t id = catalog_->ListPending(backup, 0, 1)->at(0).transfer_id;
  ASSERT_OK(catalog_->ApplyUpdates(backup, {Failed(id, "HTTP 404")}));
  ASSERT_OK_AND_ASSIGN(const auto failed,
                       catalog_->ListTransfers(backup, true, 0, 10));
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].state, TransferState::kFailed);
  EXPECT_EQ(failed[0].reason, "HTTP 404");
  EXPECT_THAT(failed[0].path, ElementsAre("name of a", "name of i1"));
  EXPECT_THAT(catalog_->ListTransfers(backup, false, 0, 10),
              IsOkAndHolds(SizeIs(2)));
  EXPECT_EQ(catalog_->ListChildren("b.1", "a")->files[0].reason, "HTTP 404");
  // The next backup asks again.
  ASSERT_OK(catalog_->FailOpen(backup, "cancelled"));
  EndBackup(backup);
  const BackupNumber second = StartWithProject();
  EXPECT_THAT(catalog_->ListPending(second, 0, 10), IsOkAndHolds(SizeIs(2)));
}

TEST_P(CatalogContract, LateResultServesTheNextBackupToo) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Item("i1", "urn1")});
  const int64_t id = catalog_->ListPending(first, 0, 1)->at(0).transfer_id;
  ASSERT_OK(catalog_->FailOpen(first, "the time was up"));
  EndBackup(first);
  const BackupNumber second = StartWithProject();
  ASSERT_THAT(catalog_->CountOpen(second), IsOkAndHolds(1));
  ASSERT_OK(catalog_->ApplyUpdates(first, {Stored(id)}));
  EXPECT_THAT(catalog_->CountOpen(second), IsOkAndHolds(0));
  EXPECT_THAT(catalog_->ListPending(second, 0, 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(CatalogContract, LateResultIsAdoptedWithoutChangingItsBackup) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root", {}, {Item("i1", "urn1")});
  const int64_t id = catalog_->ListPending(first, 0, 1)->at(0).transfer_id;
  ASSERT_OK(catalog_->FailOpen(first, "the time was up"));
  EndBackup(first);
  TransferUpdate late = Stored(id);
  late.attempt = Attempt("late");
  late.attempt->late = true;
  ASSERT_OK(catalog_->ApplyUpdates(0, {late}));
  EXPECT_TRUE(catalog_->ListAttempts(id)->at(0).late);
  const BackupCounters counters = catalog_->ListBackups(0, 1)->at(0).counters;
  EXPECT_EQ(counters.transfers_failed, 1);
  EXPECT_EQ(counters.transfers_stored, 0);
  EXPECT_THAT(catalog_->ListTransfers(first, true, 0, 10),
              IsOkAndHolds(SizeIs(1)));
  EXPECT_EQ(catalog_->ListChildren("b.1", "")->files[0].sha256,
            std::string(64, 'c'));
  EXPECT_EQ(catalog_->ListChildren("b.1", "")->files[0].reason, "");
  const BackupNumber second = StartWithProject();
  EXPECT_THAT(catalog_->CountOpen(second), IsOkAndHolds(0));
}

TEST_P(CatalogContract, AttemptAloneLeavesTheTransferAsItIs) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1")});
  const int64_t id = catalog_->ListPending(backup, 0, 1)->at(0).transfer_id;
  ASSERT_OK(catalog_->RecordLeases({{id, 41, "worker-1"}}));
  TransferUpdate late;
  late.transfer_id = id;
  late.attempt = Attempt("late");
  late.attempt_only = true;
  ASSERT_OK(catalog_->ApplyUpdates(backup, {late}));
  EXPECT_THAT(catalog_->ListLeases(backup), IsOkAndHolds(SizeIs(1)));
  EXPECT_EQ(catalog_->GetTransfer(id)->attempts, 1);
}

TEST_P(CatalogContract, FailsAnyNumberOfTransfers) {
  const BackupNumber backup = StartWithProject();
  std::vector<ListedItem> items;
  for (int i = 0; i < 5000; ++i) {
    items.push_back(Item(absl::StrCat("i", i), absl::StrCat("urn", i)));
  }
  ListFolder(backup, "root", {}, items);
  ASSERT_OK(catalog_->FailOpen(backup, "the time was up"));
  EXPECT_THAT(catalog_->CountOpen(backup), IsOkAndHolds(0));
  EXPECT_EQ(catalog_->GetRunningBackup()->value().counters.transfers_failed,
            5000);
}

TEST_P(CatalogContract, PrunesTransfersOfOldBackups) {
  std::vector<BackupNumber> backups;
  std::vector<int64_t> ids;
  for (int i = 0; i < 4; ++i) {
    backups.push_back(StartWithProject());
    if (i == 0) ListFolder(backups[0], "root", {}, {Item("i1", "urn1")});
    ids.push_back(
        catalog_->ListPending(backups.back(), 0, 1)->at(0).transfer_id);
    TransferUpdate failed = Failed(ids.back(), "HTTP 404");
    failed.attempt = Attempt("HTTP 404");
    ASSERT_OK(catalog_->ApplyUpdates(backups.back(), {failed}));
    EndBackup(backups.back());
  }
  ASSERT_THAT(catalog_->PruneTransfers(2), IsOkAndHolds(false));
  for (int i = 0; i < 4; ++i) {
    const size_t kept = i < 2 ? 0 : 1;
    EXPECT_EQ(catalog_->ListTransfers(backups[i], false, 0, 9)->size(), kept);
    EXPECT_EQ(catalog_->ListAttempts(ids[i])->size(), kept);
  }
  // Also where nothing else is left, no id is given twice.
  ASSERT_OK(catalog_->PruneTransfers(1));
  const BackupNumber next = StartWithProject();
  EXPECT_GT(catalog_->ListPending(next, 0, 1)->at(0).transfer_id, ids[3]);
}

TEST_P(CatalogContract, ChangeThatComesWhileManifestsAreWrittenIsNotLost) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {}, {Item("i1", "urn1")});
  const int64_t id = catalog_->ListPending(backup, 0, 1)->at(0).transfer_id;
  ASSERT_OK(catalog_->FailOpen(backup, "the time was up"));
  ASSERT_OK(catalog_->SetBackupState(backup, BackupState::kCommitting, ""));
  ASSERT_OK(catalog_->ApplyUpdates(backup, {Stored(id)}));
  ASSERT_OK(catalog_->SetManifest(backup, "b.1", std::string(64, 'a'), true));
  EXPECT_TRUE(catalog_->GetProject("b.1")->changed);
  ASSERT_OK(catalog_->SetManifest(backup, "b.1", std::string(64, 'b'), true));
  EXPECT_FALSE(catalog_->GetProject("b.1")->changed);
  EXPECT_EQ(catalog_->GetProject("b.1")->manifest_sha256, std::string(64, 'b'));
}

TEST_P(CatalogContract, EpochsGrowThroughRestarts) {
  ASSERT_OK_AND_ASSIGN(const int64_t first, catalog_->NextEpochBase());
  Reopen();
  ASSERT_OK_AND_ASSIGN(const int64_t second, catalog_->NextEpochBase());
  EXPECT_GT(second, first + 1'000'000'000);
}

TEST_P(CatalogContract, RemembersWhatIsShown) {
  ASSERT_OK(catalog_->SetShown({"b.1", "m1", ""}));
  ASSERT_OK(catalog_->SetShown({"b.2", "", "m2"}));
  ASSERT_OK(catalog_->SetShown({"b.1", "m1", "m3"}));
  ASSERT_OK_AND_ASSIGN(const auto shown, catalog_->ListShown());
  ASSERT_THAT(shown, SizeIs(2));
  EXPECT_EQ(shown[0].manifest_sha256, "m1");
  EXPECT_EQ(shown[0].updating_to_sha256, "m3");
}

TEST_P(CatalogContract, PagesThroughWhatIsNotListed) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root",
             {Folder("a", "1"), Folder("b", "1"), Folder("c", "1")}, {});
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_OK(catalog_->CommitUnlisted(backup, TakeTask(id), "HTTP 403"));
  }
  ASSERT_OK_AND_ASSIGN(const auto first, catalog_->ListUnlisted("", "", 2));
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[1].folder_id, "b");
  EXPECT_THAT(first[1].path, ElementsAre("name of b"));
  ASSERT_OK_AND_ASSIGN(const auto second,
                       catalog_->ListUnlisted("b.1", "b", 2));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].folder_id, "c");
  EXPECT_EQ(second[0].project_name, "Tower");
  EXPECT_EQ(second[0].reason, "HTTP 403");
}

TEST_P(CatalogContract, RechecksTheFoldersThatWentUnlistedLongest) {
  const BackupNumber first = StartWithProject();
  ListFolder(first, "root",
             {Folder("a", "1"), Folder("b", "1"), Folder("c", "1")}, {});
  for (const char* id : {"a", "b", "c"}) ListFolder(first, id, {}, {});
  EndBackup(first);
  const BackupNumber second = StartWithProject();
  EXPECT_THAT(catalog_->PushOldestFolders(second, 2), IsOkAndHolds(2));
  EXPECT_THAT(catalog_->PushOldestFolders(second, 2), IsOkAndHolds(2));
  for (const char* id : {"a", "b"}) ListFolder(second, id, {}, {});
  EXPECT_EQ(catalog_->GetTotals()->frontier, 1);
}

TEST_P(CatalogContract, RefusesFoldersThatNestWithoutEnd) {
  const BackupNumber backup = StartWithProject();
  std::string folder = "root";
  for (int depth = 0; depth < kMaxFolderDepth; ++depth) {
    const std::string child = absl::StrCat("f", depth);
    ListFolder(backup, folder, {Folder(child, "1")}, {});
    folder = child;
  }
  ListFolder(backup, folder, {Folder("too deep", "1")}, {});
  ASSERT_OK_AND_ASSIGN(const auto unlisted, catalog_->ListUnlisted("", "", 10));
  ASSERT_THAT(unlisted, SizeIs(1));
  EXPECT_THAT(unlisted[0].reason, HasSubstr("deeper than 200"));
}

}  // namespace
}  // namespace bimbackup::catalog
