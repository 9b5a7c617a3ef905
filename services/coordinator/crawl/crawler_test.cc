#include "services/coordinator/crawl/crawler.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/crawl/crawler_fixture.h"

namespace bimbackup::crawl {
namespace {

using absl_testing::StatusIs;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;
using Call = bim360::FakeBim360Client::Call;

using CrawlerTest = CrawlerFixture;

TEST_F(CrawlerTest, ListsEverythingOnce) {
  const catalog::BackupRecord backup = harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
  EXPECT_EQ(backup.counters.folders_listed, 3);
  EXPECT_EQ(backup.counters.transfers, 3);
  EXPECT_EQ(backup.counters.transfer_bytes, 60);
  const catalog::AccountTotals totals = *harness_.catalog->GetTotals();
  EXPECT_EQ(totals.projects, 1);
  EXPECT_EQ(totals.folders, 3);
  EXPECT_EQ(totals.files, 3);
  EXPECT_EQ(totals.bytes, 60);
  EXPECT_EQ(totals.frontier, 0);
}

TEST_F(CrawlerTest, UnchangedAccountCostsOneCallPerProject) {
  harness_.Backup();
  ASSERT_OK(
      harness_.catalog->SetManifest(1, "b.1", std::string(64, 'a'), true));
  client().ResetCalls();
  const catalog::BackupRecord second = harness_.Backup();
  EXPECT_EQ(client().CallCount(Call::kListProjects), 1);
  EXPECT_EQ(client().CallCount(Call::kListTopFolders), 0);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 1);
  EXPECT_EQ(second.counters.transfers, 0);
  EXPECT_EQ(second.counters.folders_skipped, 3);
  EXPECT_FALSE(harness_.IsChanged("b.1"));
}

TEST_F(CrawlerTest, CountsAFolderAsListedOrAsSkipped) {
  harness_.Backup();
  for (const int64_t recheck : {1, 2, 3, 100}) {
    const catalog::BackupRecord backup = harness_.Backup(recheck);
    const int64_t listed = std::min<int64_t>(recheck, 3);
    EXPECT_EQ(backup.counters.folders_listed, listed);
    EXPECT_EQ(backup.counters.folders_skipped, 3 - listed);
  }
}

TEST_F(CrawlerTest, ListsAgainOnlyWhatChanged) {
  harness_.Backup();
  client().AddFile(old_, "new.pdf", 5);
  client().ResetCalls();
  harness_.Backup();
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, plans_), 1);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, old_), 1);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents, models_), 0);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, FullRecheckListsEverythingAgain) {
  harness_.Backup();
  client().ResetCalls();
  catalog::BackupRequest request;
  request.full_recheck = true;
  harness_.Backup(request);
  EXPECT_EQ(client().CallCount(Call::kListFolderContents), 4);
}

TEST_F(CrawlerTest, CopiesShareOneTransfer) {
  bim360::Item copy = client().AddFile(plans_, "a.pdf", 10);
  copy.item_id += "-copy";
  client().AddItem(models_, copy);
  EXPECT_EQ(harness_.Backup().counters.transfers, 3);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, AsksForTopFoldersWhereTheRootIsHidden) {
  client().FailNext(Call::kListFolderContents, "b.1-root",
                    absl::PermissionDeniedError("HTTP 403"), -1);
  harness_.Backup();
  client().ClearFailures();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, MakesUpParentsThatCannotBeSeen) {
  client().FailNext(Call::kListFolderContents, "b.1-root",
                    absl::PermissionDeniedError("HTTP 403"), -1);
  bim360::Folder deep;
  deep.id = "deep";
  deep.name = "Deep";
  deep.parent_names = {"Project Files", "Level 1"};
  client().AddFolder("b.1", deep);
  client().AddFile("deep", "d.pdf", 1);
  harness_.Backup();
  EXPECT_THAT(harness_.Tree(),
              Contains(Key("Tower/Project Files/Level 1/Deep/d.pdf")));
  const auto before = harness_.Tree();
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), before);
}

TEST_F(CrawlerTest, SaysWhatToDoWhenTheAccountIsClosed) {
  client().FailNext(Call::kListProjects, "",
                    absl::PermissionDeniedError("HTTP 403"));
  EXPECT_THAT(FailedCrawl(), StatusIs(absl::StatusCode::kPermissionDenied,
                                      HasSubstr("Custom Integrations")));
}

TEST_F(CrawlerTest, RefusedCredentialsFailTheRun) {
  client().FailNext(Call::kListFolderContents, models_,
                    absl::UnauthenticatedError("HTTP 401"));
  EXPECT_THAT(FailedCrawl(), StatusIs(absl::StatusCode::kUnauthenticated));
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, UnknownProjectFailsTheRun) {
  catalog::BackupRequest request;
  request.projects = {"Tower", "Tover"};
  EXPECT_THAT(FailedCrawl(request),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("Tover")));
}

TEST_F(CrawlerTest, StopsAskingWhenNothingIsAnswered) {
  for (int i = 0; i < 150; ++i) {
    const std::string folder = client().AddFolder(models_, absl::StrCat(i));
    client().FailNext(Call::kListFolderContents, folder,
                      absl::UnavailableError("HTTP 503"), -1);
  }
  const catalog::BackupNumber backup = harness_.Start();
  ASSERT_OK_AND_ASSIGN(const CrawlResult result,
                       Crawl(harness_.Options(backup)));
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, HasSubstr("HTTP 503"));
  EXPECT_LT(client().CallCount(Call::kListFolderContents), 120);
  EXPECT_GE(harness_.Counters(backup).unlisted, 150);
  harness_.StoreAll(backup);
  harness_.End(backup, catalog::BackupState::kPartial);
  client().ClearFailures();
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, EndsWhenItsTimeIsUpAndGoesOnNextTime) {
  harness_.Backup();
  client().AddFile(old_, "new.pdf", 1);
  client().RemoveFolder("b.1", models_);
  const catalog::BackupNumber backup = harness_.Start();
  CrawlerOptions options = harness_.Options(backup);
  options.deadline = harness_.clock.Monotonic();
  ASSERT_OK_AND_ASSIGN(const CrawlResult result, Crawl(options));
  EXPECT_FALSE(result.complete);
  EXPECT_THAT(result.message, HasSubstr("time was up"));
  EXPECT_THAT(harness_.Tree(), Contains(Key("Tower/Models/c.rvt")));
  harness_.End(backup, catalog::BackupState::kPartial);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, CancelReturnsWhileACallIsInFlight) {
  const catalog::BackupNumber backup = harness_.Start();
  Mutex mutex;
  CondVar changed;
  bool cancelled = false;
  {
    Crawler crawler(client(), *harness_.catalog, harness_.clock,
                    harness_.Options(backup));
    client().SetBeforeCall([&](Call call, const std::string& id) {
      if (call != Call::kListFolderContents || id != models_) return;
      crawler.Cancel();
      MutexLock lock(mutex);
      while (!cancelled) changed.Wait(mutex);
    });
    EXPECT_THAT(crawler.Run(), StatusIs(absl::StatusCode::kCancelled));
    MutexLock lock(mutex);
    cancelled = true;
    changed.NotifyAll();
  }
  client().SetBeforeCall(nullptr);
  harness_.End(backup, catalog::BackupState::kCancelled);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, CancelEndsCallsThatWaitForTheirTurn) {
  const catalog::BackupNumber backup = harness_.Start();
  client().HoldCalls(true);
  {
    Crawler crawler(client(), *harness_.catalog, harness_.clock,
                    harness_.Options(backup));
    std::thread canceller([&] {
      while (client().WaitingCalls() == 0) std::this_thread::yield();
      crawler.Cancel();
    });
    EXPECT_THAT(crawler.Run(), StatusIs(absl::StatusCode::kCancelled));
    canceller.join();
  }
  EXPECT_EQ(client().WaitingCalls(), 0);
  client().HoldCalls(false);
  harness_.End(backup, catalog::BackupState::kCancelled);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, TheDeadlineEndsCallsThatWaitForTheirTurn) {
  const catalog::BackupNumber backup = harness_.Start();
  CrawlerOptions options = harness_.Options(backup);
  options.deadline = harness_.clock.Monotonic() + absl::Milliseconds(50);
  client().HoldCalls(true);
  ASSERT_OK_AND_ASSIGN(const CrawlResult result, Crawl(options));
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(client().WaitingCalls(), 0);
  client().HoldCalls(false);
  harness_.End(backup, catalog::BackupState::kPartial);
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, AsksForNoCommittedPageAgainAfterARestart) {
  client().SetPageSize(1);
  for (int i = 0; i < 5; ++i) client().AddFile(old_, absl::StrCat(i), 1);
  const catalog::BackupNumber backup = harness_.Start();
  CrawlerOptions options = harness_.Options(backup);
  options.concurrency = 1;
  for (int stop = 0; stop < 3; ++stop) {
    {
      Crawler crawler(client(), *harness_.catalog, harness_.clock, options);
      std::atomic<int> calls = 3;
      client().SetBeforeCall([&](Call, const std::string&) {
        if (--calls == 0) crawler.Cancel();
      });
      crawler.Run().status().IgnoreError();
      client().SetBeforeCall(nullptr);
    }
    harness_.Reopen();
  }
  ASSERT_OK(Crawl(options));
  harness_.StoreAll(backup);
  // One page was asked for at each stop and its answer thrown away.
  const int pages = client().CallCount(Call::kListFolderContents) +
                    client().CallCount(Call::kListProjects);
  EXPECT_LE(pages, 2 + 2 + 6 + 1 + 1 + 3);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, TellsWhenTransfersMayHaveAppeared) {
  const catalog::BackupNumber backup = harness_.Start();
  CrawlerOptions options = harness_.Options(backup);
  std::atomic<int> told = 0;
  std::atomic<bool> before_end = false;
  options.on_transfers = [&] {
    ++told;
    const auto pending = harness_.catalog->ListPending(backup, 0, 10);
    if (pending.ok() && !pending->empty()) before_end = true;
  };
  ASSERT_OK(Crawl(options));
  EXPECT_EQ(told, 3);
  EXPECT_TRUE(before_end);
}

TEST_F(CrawlerTest, RecheckBudgetBecomesACountOfFolders) {
  EXPECT_EQ(RecheckFolders(absl::Minutes(5), 1.0), 1500);
  EXPECT_EQ(RecheckFolders(absl::Minutes(5), 0.9), 1350);
  EXPECT_EQ(RecheckFolders(absl::ZeroDuration(), 0.9), 0);
  EXPECT_EQ(
      RecheckFolders(absl::Minutes(1), std::numeric_limits<double>::infinity()),
      300);
}

TEST_F(CrawlerTest, TransferThatFailedIsMadeAgain) {
  const catalog::BackupNumber first = harness_.Start();
  ASSERT_OK(Crawl(harness_.Options(first)));
  EXPECT_THAT(harness_.FailAll(first), testing::SizeIs(3));
  harness_.End(first);
  EXPECT_THAT(harness_.Tree(),
              Contains(Pair("Tower/Plans/a.pdf", HasSubstr("(gone wrong)"))));
  EXPECT_EQ(harness_.Backup().counters.transfers, 3);
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

TEST_F(CrawlerTest, FormerVersionStandsWhileTheTipIsNotStored) {
  harness_.Backup();
  bim360::Item item = client().AddFile(plans_, "a.pdf", 10);
  item.version_id += "2";
  item.storage_urn += "2";
  client().AddItem(plans_, item);
  const catalog::BackupNumber second = harness_.Start();
  ASSERT_OK(Crawl(harness_.Options(second)));
  harness_.FailAll(second);
  harness_.End(second);
  EXPECT_THAT(harness_.Tree(),
              Contains(Pair("Tower/Plans/a.pdf", HasSubstr(" former "))));
  harness_.Backup();
  EXPECT_EQ(harness_.Tree(), harness_.TrueTree());
}

}  // namespace
}  // namespace bimbackup::crawl
