// What stands in the catalog when listings fail, lie or lose things.

#include <set>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawler_fixture.h"

namespace bimbackup::crawl {
namespace {

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
using Call = bim360::FakeBim360Client::Call;

using IncompleteListingTest = CrawlerFixture;

TEST_F(IncompleteListingTest, KeepsWhatAForbiddenFolderHeldAndRetriesItAlone) {
  harness_.Backup();
  client().AddFile(plans_, "new.pdf", 1);
  client().FailNext(Call::kListFolderContents, plans_,
                    absl::PermissionDeniedError("HTTP 403 for Plans"), -1);
  const catalog::BackupRecord second = harness_.Backup();
  EXPECT_EQ(second.counters.unlisted, 1);
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre("Tower/Plans: HTTP 403 for Plans"));
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Key("Tower/Plans/a.pdf")),
                    Contains(Key("Tower/Plans/Old/b.pdf")),
                    Contains(Pair("Tower/Plans", EndsWith(" unlisted")))));
  client().ClearFailures();
  client().ResetCalls();
  const catalog::BackupRecord third = harness_.Backup();
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 2);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, plans_), 1);
  EXPECT_EQ(third.counters.unlisted, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, FolderThatStaysForbiddenChangesNothing) {
  client().FailNext(Call::kListFolderContents, plans_,
                    absl::PermissionDeniedError("HTTP 403"), -1);
  harness_.Backup();
  ASSERT_OK(
      harness_.catalog->SetManifest(1, "b.1", std::string(64, 'a'), true));
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
  EXPECT_FALSE(harness_.IsChanged("b.1"));
}

TEST_F(IncompleteListingTest, KeepsWhatMovedToWhereNobodyMayLook) {
  harness_.Backup();
  client().RemoveFolder(plans_, old_);
  client().LinkFolder(models_, old_);
  client().FailNext(Call::kListFolderContents, models_,
                    absl::PermissionDeniedError("HTTP 403"), -1);
  for (int night = 0; night < 3; ++night) {
    EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
    EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Old/b.pdf")));
  }
  client().ClearFailures();
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, NamesAProjectThatCannotBeListed) {
  harness_.Backup();
  AddProject("b.2", "Bridge");
  for (const Call call : {Call::kListFolderContents, Call::kListTopFolders}) {
    client().FailNext(call, call == Call::kListTopFolders ? "b.1" : "b.1-root",
                      absl::NotFoundError("HTTP 404"), -1);
  }
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
  EXPECT_THAT(harness_.Unlisted(), ElementsAre("Tower: HTTP 404"));
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Pair("Tower", "project unlisted")),
                    Contains(Key("Tower/Plans/Old/b.pdf")),
                    Contains(Pair("Bridge", "project"))));
}

TEST_F(IncompleteListingTest, DeletedFolderThatIsStillAskedForIsRemovedAtOnce) {
  harness_.Backup();
  client().SetRollupsMove(false);
  client().RemoveFolder(plans_, old_);
  client().FailNext(Call::kListFolderContents, old_,
                    absl::NotFoundError("HTTP 404"), -1);
  const catalog::BackupRecord second = harness_.Backup(/*recheck_folders=*/3);
  EXPECT_EQ(second.counters.unlisted, 0);
  EXPECT_THAT(harness_.Unlisted(), IsEmpty());
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, NotFoundFolderHasItsParentListed) {
  harness_.Backup();
  client().SetRollupsMove(false);
  client().RemoveFolder(plans_, old_);
  client().FailNext(Call::kListFolderContents, old_,
                    absl::NotFoundError("HTTP 404"), -1);
  // One recheck at a time, until it is this folder's turn.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(harness_.Backup(/*recheck_folders=*/1).counters.unlisted, 0);
  }
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, RefusesAFolderThatContainsItself) {
  client().LinkFolder(old_, old_);
  client().LinkFolder(old_, plans_);
  const catalog::BackupRecord backup = harness_.Backup();
  EXPECT_EQ(backup.counters.unlisted, 1);
  EXPECT_THAT(
      harness_.Unlisted(),
      ElementsAre(AllOf(HasSubstr("Tower/Plans/Old: "), HasSubstr("cycle"))));
  EXPECT_THAT(harness_.Tree(), AllOf(Contains(Key("Tower/Plans/Old/b.pdf")),
                                     Contains(Key("Tower/Models/c.rvt"))));
  const auto before = harness_.Tree();
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), before);
}

TEST_F(IncompleteListingTest, FoldersThatSwapPlacesLoseNothing) {
  harness_.Backup();
  client().RemoveFolder("b.1", plans_);
  client().RemoveFolder(plans_, old_);
  client().LinkFolder("b.1", old_);
  client().LinkFolder(old_, plans_);
  std::set<std::string> before;
  for (const auto& [path, entry] : harness_.Tree()) before.insert(entry);
  for (int i = 0; i < 2; ++i) {
    harness_.Backup(/*recheck_folders=*/3);
    std::set<std::string> after;
    for (const auto& [path, entry] : harness_.Tree()) after.insert(entry);
    EXPECT_EQ(after, before);
  }
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, EndsAListingWhosePagesLoop) {
  client().SetPageSize(1);
  client().AddFile(models_, "d.rvt", 1);
  client().AddFile(models_, "e.rvt", 1);
  client().LoopPages(models_);
  const catalog::BackupRecord backup = harness_.Backup();
  EXPECT_EQ(backup.counters.unlisted, 1);
  EXPECT_THAT(
      harness_.Unlisted(),
      ElementsAre(AllOf(HasSubstr("Tower/Models: "), HasSubstr("leads back"))));
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Models/e.rvt")));
  EXPECT_LE(client().CallCount(Call::kListFolderContents, models_), 5);
}

TEST_F(IncompleteListingTest, EntriesThatCannotBeReadKeepWhatWasKnown) {
  harness_.Backup();
  client().RemoveItem(plans_,
                      "urn:adsk.wipprod:dm.lineage:" + plans_ + "/a.pdf");
  client().AddFile(plans_, "new.pdf", 1);
  client().AddDefect(plans_, "item without an id");
  const catalog::BackupRecord second = harness_.Backup();
  EXPECT_EQ(second.counters.unlisted, 1);
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre("Tower/Plans: an entry could not be read: item "
                          "without an id"));
  // What could be read is current, and not marked as carried.
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Key("Tower/Plans/a.pdf")),
                    Contains(Key("Tower/Plans/new.pdf")),
                    Contains(Pair("Tower/Plans", Not(EndsWith("unlisted"))))));
}

TEST_F(IncompleteListingTest, ItemWithoutItsVersionKeepsWhatWasKnown) {
  harness_.Backup();
  bim360::Item item = client().AddFile(plans_, "a.pdf", 10);
  item.version_id.clear();
  item.storage_urn.clear();
  client().AddItem(plans_, item);
  const auto before = harness_.Tree();
  EXPECT_EQ(harness_.Backup().counters.unlisted, 1);
  EXPECT_EQ(harness_.Tree(), before);
}

TEST_F(IncompleteListingTest, SaysWhyAVersionHasNoContent) {
  bim360::Item item;
  item.item_id = "plan";
  item.name = "Sheet A";
  item.item_type = "items:autodesk.bim360:Document";
  item.version_id = "plan?version=1";
  item.version_type = "versions:autodesk.bim360:Document";
  client().AddItem(plans_, item);
  EXPECT_EQ(harness_.Backup().counters.unlisted, 0);
  EXPECT_THAT(harness_.Tree(), Contains(Pair("Tower/Plans/Sheet A",
                                             HasSubstr("BIM 360 Plans"))));
}

TEST_F(IncompleteListingTest, GuardsWhatVanishesInSuspiciousNumber) {
  for (int i = 0; i < 150; ++i) {
    client().AddFile(old_, absl::StrCat("x", i), 1);
  }
  harness_.Backup();
  client().RemoveFolder(plans_, old_);
  const catalog::BackupRecord second = harness_.Backup();
  EXPECT_EQ(second.counters.guarded, 152);
  EXPECT_THAT(
      harness_.Tree(),
      AllOf(Contains(Pair("Tower/Plans/Old", EndsWith(" guarded"))),
            Contains(Pair("Tower/Plans/Old/x7", EndsWith(" guarded")))));
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre(HasSubstr("Tower/Plans/Old: guarded: vanished")));
  EXPECT_EQ(harness_.Backup().counters.guarded, 152);
  client().LinkFolder(plans_, old_);
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, RemovesWhatVanishesInBelievableNumber) {
  for (int i = 0; i < 90; ++i) {
    client().AddFile(old_, absl::StrCat("x", i), 1);
  }
  harness_.Backup();
  client().RemoveFolder(plans_, old_);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_EQ(harness_.catalog->GetTotals()->files, 2);
  EXPECT_EQ(harness_.catalog->GetTotals()->bytes, 40);
}

TEST_F(IncompleteListingTest, KeepsAProjectThatLeavesTheListing) {
  AddProject("b.2", "Bridge");
  harness_.Backup();
  client().RemoveProject("b.1");
  EXPECT_EQ(harness_.Backup().counters.guarded, 7);
  EXPECT_THAT(harness_.Unlisted(),
              ElementsAre(HasSubstr("Tower: guarded: vanished")));
  EXPECT_THAT(harness_.Tree(),
              AllOf(Contains(Pair("Tower", "project vanished")),
                    Contains(Key("Tower/Plans/Old/b.pdf"))));
  AddProject("b.1", "Tower");
  EXPECT_EQ(harness_.Backup().counters.guarded, 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(IncompleteListingTest, EmptyListOfProjectsRemovesNothing) {
  harness_.Backup();
  client().RemoveProject("b.1");
  EXPECT_THAT(FailedCrawl(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                      AllOf(HasSubstr("Custom Integrations"),
                                            HasSubstr("the-client-id"))));
  EXPECT_THAT(harness_.Tree(), AllOf(Contains(Pair("Tower", "project")),
                                     Contains(Key("Tower/Plans/Old/b.pdf"))));
}

TEST_F(IncompleteListingTest, AListOfProjectsThatNobodyCanReadSaysSo) {
  harness_.Backup();
  client().RemoveProject("b.1");
  client().AddDefect(bim360::FakeBim360Client::kHubId,
                     "project 'b.1' called '' lacks its id or its name");
  EXPECT_THAT(FailedCrawl(),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("lacks its id or its name"),
                             Not(HasSubstr("Custom Integrations")))));
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Plans/Old/b.pdf")));
}

}  // namespace
}  // namespace bimbackup::crawl
