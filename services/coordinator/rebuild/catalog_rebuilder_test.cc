#include "services/coordinator/rebuild/catalog_rebuilder.h"

#include "gmock/gmock.h"
#include "services/coordinator/rebuild/rebuild_fixture.h"

namespace bimbackup::rebuild {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using Call = bim360::FakeBim360Client::Call;

class CatalogRebuilderTest : public RebuildFixture {
 protected:
  void Forbid(const std::string& folder) {
    client().FailNext(Call::kListFolderContents, folder,
                      absl::PermissionDeniedError("HTTP 403"), -1);
  }
  std::string ItemId(const std::string& folder, const std::string& name) {
    return absl::StrCat("urn:adsk.wipprod:dm.lineage:", folder, "/", name);
  }
};

TEST_F(CatalogRebuilderTest, ManifestsBringBackTheTreeAndWhatIsStored) {
  AddProject("b.2", "Bridge");
  client().AddFile(client().AddFolder("b.2", "Deck"), "deck.pdf", 77);
  client().AddFolder(old_, "Empty");
  bim360::Item plan;
  plan.item_id = "plan";
  plan.name = "Sheet A";
  plan.item_type = "items:autodesk.bim360:Document";
  plan.version_id = "plan?version=1";
  client().AddItem(plans_, plan);
  const Done first = Backup();
  const auto before = harness_.Tree();
  const catalog::AccountTotals totals = *harness_.catalog->GetTotals();
  LoseAndRebuild();
  EXPECT_EQ(harness_.Tree(), before);
  EXPECT_EQ(harness_.catalog->GetTotals()->files, totals.files);
  EXPECT_EQ(harness_.catalog->GetTotals()->folders, totals.folders);
  EXPECT_EQ(harness_.catalog->GetTotals()->bytes, totals.bytes);
  EXPECT_THAT(harness_.catalog->GetSetting("storage_id"),
              IsOkAndHolds(storage_->id()));
  ASSERT_THAT(harness_.catalog->ListBackups(0, 10), IsOkAndHolds(SizeIs(1)));
  EXPECT_EQ(harness_.catalog->ListBackups(0, 10)->at(0).snapshot_id,
            first.snapshot.id);
  // Everything is listed, nothing fetched, nothing has changed.
  client().ResetCalls();
  const Done second = Backup();
  EXPECT_EQ(second.record.counters.transfers, 0);
  EXPECT_EQ(second.record.counters.folders_skipped, 0);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 7);
  EXPECT_EQ(Manifests(second.snapshot), Manifests(first.snapshot));
  EXPECT_EQ(harness_.Counters(second.record.number).manifests_written, 0);
  // The night after is as quick as ever.
  client().ResetCalls();
  Backup();
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 2);
}

TEST_F(CatalogRebuilderTest, GuardAgainstMassDeletionStillStands) {
  for (int i = 0; i < 500; ++i) {
    client().AddFile(old_, absl::StrCat("x", i), 3);
  }
  Backup();
  LoseAndRebuild();
  for (int i = 0; i < 500; ++i) {
    client().RemoveItem(old_, ItemId(old_, absl::StrCat("x", i)));
  }
  client().RemoveItem(old_, ItemId(old_, "b.pdf"));
  const Done second = Backup();
  EXPECT_EQ(second.record.counters.guarded, 501);
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Old/x499")));
}

TEST_F(CatalogRebuilderTest, ProjectThatVanishesAfterwardsStandsGuarded) {
  AddProject("b.2", "Bridge");
  Backup();
  LoseAndRebuild();
  client().RemoveProject("b.1");
  EXPECT_EQ(Backup().record.counters.guarded, 7);
}

TEST_F(CatalogRebuilderTest, WhatStoodGuardedOrCarriedStandsSoAgain) {
  AddProject("b.2", "Bridge");
  AddProject("b.3", "Canal");
  client().AddFile(client().AddFolder("b.3", "Lock"), "gate.pdf", 9);
  for (int i = 0; i < 150; ++i) {
    client().AddFile(old_, absl::StrCat("x", i), 3);
  }
  const std::string site = client().AddFolder("b.2", "Site");
  client().AddFile(client().AddFolder(site, "Photos"), "p.jpg", 7);
  Backup();
  client().RemoveFolder(plans_, old_);
  client().RemoveProject("b.3");
  Forbid(site);
  client().AddFile(site, "unseen.pdf", 8);
  // One to settle, because what is missing waits for a first full listing.
  Backup();
  const Done second = Backup();
  const auto before = harness_.Tree();
  LoseAndRebuild();
  EXPECT_EQ(harness_.Tree(), before);
  const Done third = Backup();
  EXPECT_EQ(third.record.counters.transfers, 0);
  EXPECT_EQ(third.record.counters.guarded, second.record.counters.guarded);
  EXPECT_EQ(third.record.counters.unlisted, 1);
  EXPECT_EQ(Manifests(third.snapshot), Manifests(second.snapshot));
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Pair("Canal", "project vanished")),
                    Contains(Pair("Bridge/Site", EndsWith(" unlisted"))),
                    Contains(Pair("Tower/Plans/Old", EndsWith(" guarded")))));
}

TEST_F(CatalogRebuilderTest, FormerVersionStandsWhereTheTipIsNotFetched) {
  Backup();
  bim360::Item tip = client().AddFile(plans_, "a.pdf", 11);
  tip.version_id = absl::StrCat(tip.item_id, "?version=2");
  tip.version_number = 2;
  tip.storage_urn = "urn:tip";
  client().AddItem(plans_, tip);
  client().AddFile(plans_, "new.pdf", 12);
  const Done second = Backup(/*fetch=*/false);
  LoseAndRebuild();
  const Done third = Backup(/*fetch=*/false);
  EXPECT_EQ(third.record.counters.transfers, 2);
  EXPECT_EQ(Manifests(third.snapshot), Manifests(second.snapshot));
  Backup();
  const auto children = harness_.catalog->ListChildren("b.1", plans_);
  for (const catalog::FileRecord& file : children->files) {
    EXPECT_THAT(file.sha256, SizeIs(64)) << file.name;
  }
}

TEST_F(CatalogRebuilderTest, OldVersionsAreStoredToo) {
  Backup();
  const bim360::Item first = client().AddFile(plans_, "a.pdf", 10);
  bim360::Item second = first;
  second.version_id = absl::StrCat(first.item_id, "?version=2");
  second.version_number = 2;
  second.storage_urn = "urn:second";
  client().AddItem(plans_, second);
  EXPECT_EQ(Backup().record.counters.transfers, 1);
  LoseAndRebuild();
  // Somebody makes the old version the newest one again.
  bim360::Item third = first;
  third.version_id = absl::StrCat(first.item_id, "?version=3");
  third.version_number = 3;
  client().AddItem(plans_, third);
  EXPECT_EQ(Backup().record.counters.transfers, 0);
  EXPECT_THAT(harness_.catalog->ListBackups(0, 10), IsOkAndHolds(SizeIs(3)));
}

TEST_F(CatalogRebuilderTest, MissingAndCutBlobsAreFetchedAgain) {
  Backup();
  const auto files = harness_.catalog->ListChildren("b.1", plans_)->files;
  const auto models = harness_.catalog->ListChildren("b.1", models_)->files;
  std::filesystem::remove(BlobPath(files[0].sha256));
  Spoil(BlobPath(models[0].sha256), "cut");
  LoseAndRebuild();
  const catalog::BackupNumber backup = harness_.Start();
  ASSERT_OK(Crawl(harness_.Options(backup)));
  EXPECT_EQ(harness_.catalog->ListPending(backup, 0, 10)->size(), 2);
}

TEST_F(CatalogRebuilderTest, TornManifestAndSnapshotArePassedOver) {
  const Done first = Backup();
  client().AddFile(plans_, "second.pdf", 5);
  const Done second = Backup();
  client().AddFile(plans_, "third.pdf", 6);
  const Done third = Backup();
  std::string bytes = storage::ReadWholeFile(
      ManifestPath(second.snapshot.projects[0].manifest_sha256));
  bytes.resize(bytes.size() / 2);
  Spoil(ManifestPath(second.snapshot.projects[0].manifest_sha256), bytes);
  Spoil(folder_ / absl::StrCat("snapshots/", third.snapshot.id, ".json"),
        "{\"format\":");
  LoseAndRebuild();
  // The newest manifest that can be read, and is named.
  EXPECT_THAT(harness_.Tree(), AllOf(Contains(Key("Tower/Plans/a.pdf")),
                                     Not(Contains(Key("Tower/second.pdf")))));
  EXPECT_TRUE(harness_.IsChanged("b.1"));
  EXPECT_EQ(Backup().record.counters.transfers, 2);
  EXPECT_EQ(first.snapshot.projects.size(), 1);
}

TEST_F(CatalogRebuilderTest, RefusesAnotherAccountsSnapshots) {
  Backup();
  LoseCatalog();
  EXPECT_THAT(Rebuild("another"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("the-account"), HasSubstr("another"))));
  EXPECT_FALSE(std::filesystem::exists(harness_.state_dir + "/catalog.db"));
}

TEST_F(CatalogRebuilderTest, LeavesACatalogAlone) {
  Backup();
  harness_.catalog.reset();
  EXPECT_THAT(Rebuild(), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(CatalogRebuilderTest, StartsOverAfterAnInterruption) {
  Backup();
  LoseCatalog();
  storage::WriteWholeFile(harness_.state_dir + "/catalog.db.rebuild", "half");
  storage::WriteWholeFile(harness_.state_dir + "/catalog.db-wal", "stale");
  ASSERT_OK(Rebuild());
  harness_.Reopen();
  EXPECT_EQ(Backup().record.counters.transfers, 0);
}

TEST_F(CatalogRebuilderTest, ResultsOfTheLostCatalogAreNobodysNow) {
  Backup();
  LoseAndRebuild();
  client().AddFile(plans_, "new.pdf", 1);
  const catalog::BackupNumber backup = harness_.Start();
  ASSERT_OK(Crawl(harness_.Options(backup)));
  const auto pending = harness_.catalog->ListPending(backup, 0, 10);
  ASSERT_THAT(pending, IsOkAndHolds(SizeIs(1)));
  EXPECT_GT(pending->at(0).transfer_id, 1'000'000);
}

TEST_F(CatalogRebuilderTest, CopyKeepsWhatTheCrawlKnows) {
  copies_ = true;
  const Done first = Backup();
  ASSERT_OK(harness_.catalog->SetShown({"b.1", "shown", ""}));
  client().AddFile(plans_, "new.pdf", 4);
  Backup();
  LoseAndRebuild();
  EXPECT_THAT(harness_.catalog->ListShown(), IsOkAndHolds(SizeIs(1)));
  EXPECT_THAT(harness_.catalog->GetRunningBackup(),
              IsOkAndHolds(testing::Eq(std::nullopt)));
  EXPECT_EQ(harness_.catalog->ListBackups(0, 1)->at(0).state,
            catalog::BackupState::kSucceeded);
  client().ResetCalls();
  EXPECT_EQ(Backup().record.counters.transfers, 0);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 1);
}

TEST_F(CatalogRebuilderTest, NewerSnapshotsComeOnTopOfTheCopy) {
  AddProject("b.2", "Bridge");
  client().AddFile(client().AddFolder("b.2", "Deck"), "deck.pdf", 77);
  copies_ = true;
  Backup();
  ASSERT_OK(harness_.catalog->SetShown({"b.1", "shown", ""}));
  copies_ = false;
  const std::string late = client().AddFolder(plans_, "Late");
  client().AddFile(late, "late.pdf", 4);
  const Done second = Backup();
  const auto before = harness_.Tree();
  LoseAndRebuild();
  EXPECT_EQ(harness_.Tree(), before);
  EXPECT_THAT(harness_.catalog->ListShown(), IsOkAndHolds(IsEmpty()));
  // Forbidden now: what it held is carried all the same.
  Forbid(late);
  client().ResetCalls();
  const Done third = Backup();
  EXPECT_EQ(third.record.counters.transfers, 0);
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Late/late.pdf")));
  // The project that did not change is not listed again.
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, "b.2-root/Deck"), 0);
  EXPECT_EQ(Manifests(third.snapshot).at("b.2"),
            Manifests(second.snapshot).at("b.2"));
}

TEST_F(CatalogRebuilderTest, DamagedCopyGivesWayToTheOneBefore) {
  copies_ = true;
  Backup();
  client().AddFile(plans_, "new.pdf", 4);
  const Done second = Backup();
  const std::string path =
      folder_ / absl::StrCat("catalog/", second.snapshot.id, ".db.zst");
  std::string bytes = storage::ReadWholeFile(path);
  bytes[bytes.size() / 2] ^= 1;
  Spoil(path, bytes);
  const auto before = harness_.Tree();
  LoseAndRebuild();
  EXPECT_EQ(harness_.Tree(), before);
  EXPECT_EQ(Backup().record.counters.transfers, 0);
}

TEST_F(CatalogRebuilderTest, WithoutAnyGoodCopyTheManifestsDo) {
  copies_ = true;
  const Done first = Backup();
  Spoil(folder_ / absl::StrCat("catalog/", first.snapshot.id, ".db.zst"),
        "no copy");
  LoseAndRebuild();
  client().ResetCalls();
  EXPECT_EQ(Backup().record.counters.transfers, 0);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 4);
}

TEST_F(CatalogRebuilderTest, CopyOfAnotherStorageIsNotTaken) {
  copies_ = true;
  ASSERT_OK(harness_.catalog->SetSetting("storage_id", "another"));
  Backup();
  LoseAndRebuild();
  EXPECT_THAT(harness_.catalog->GetSetting("storage_id"),
              IsOkAndHolds(storage_->id()));
  client().ResetCalls();
  Backup();
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 4);
}

TEST_F(CatalogRebuilderTest, CopyForgetsBlobsThatHaveGone) {
  copies_ = true;
  Backup();
  const auto files = harness_.catalog->ListChildren("b.1", models_)->files;
  std::filesystem::remove(BlobPath(files[0].sha256));
  LoseAndRebuild();
  EXPECT_EQ(Backup().record.counters.transfers, 1);
  EXPECT_THAT(harness_.catalog->ListChildren("b.1", models_)->files[0].sha256,
              files[0].sha256);
}

}  // namespace
}  // namespace bimbackup::rebuild
