#include "services/coordinator/lease/lease_pool.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/lease/pool_harness.h"

namespace bimbackup::lease {
namespace {

using absl_testing::StatusIs;
using catalog::TransferState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LeasePoolTest : public testing::Test, protected PoolHarness {};

TEST_F(LeasePoolTest, GrantsSignedTransfersAndCommitsTheirResults) {
  AddTransfers(1);
  Begin();
  const std::vector<GrantedLease> granted = Take("w1", 4);
  ASSERT_THAT(granted, SizeIs(1));
  EXPECT_THAT(granted[0].download.ranges, SizeIs(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kLeased);
  WorkerReport report = Report("w1", 4);
  report.results = {Stored(granted[0])};
  EXPECT_THAT(Exchange(report).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kStored);
  EXPECT_TRUE(pool->stats().drained);
}

TEST_F(LeasePoolTest, SharesTheEndOfARunEvenly) {
  AddTransfers(40);
  Begin();
  Exchange(Report("w2", 0));
  // Two workers: 40 / (2 * 2) = 10, then 30 / 4 rounded up.
  EXPECT_THAT(Take("w1", 64), SizeIs(10));
  EXPECT_THAT(Take("w2", 64), SizeIs(8));
}

TEST_F(LeasePoolTest, LetsAHugeFileTravelAlone) {
  store.Add(int64_t{5} << 30);
  AddTransfers(20);
  Begin();
  EXPECT_THAT(Take("w1", 32), SizeIs(1));
  EXPECT_GT(Take("w2", 32).size(), 1);
}

TEST_F(LeasePoolTest, HoldsAReportUntilSomethingBecomesReady) {
  ASSERT_OK(pool->BeginBackup(kBackup, clock.Now()));
  Settle();
  const PendingReport held = Send(Report("w1", 4));
  Settle();
  EXPECT_FALSE(held.answered());
  AddTransfers(1);
  pool->NotifyPending();
  Settle();
  ASSERT_TRUE(held.answered());
  EXPECT_THAT(held.get().granted, SizeIs(1));
}

TEST_F(LeasePoolTest, AnswersAReportWithoutNewsAfterTheHold) {
  Begin();
  const PendingReport held = Send(Report("w1", 4));
  Advance(absl::Seconds(19));
  EXPECT_FALSE(held.answered());
  Advance(absl::Seconds(1));
  ASSERT_TRUE(held.answered());
  EXPECT_THAT(held.get().granted, IsEmpty());
}

TEST_F(LeasePoolTest, GivesAnExpiredLeaseToAnother) {
  AddTransfers(1);
  Begin();
  const auto first = Take("w1", 4);
  Advance(absl::Seconds(59));
  EXPECT_THAT(Take("w2", 4), IsEmpty());
  Advance(absl::Seconds(1));
  const auto second = Take("w2", 4);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_GT(second[0].epoch, first[0].epoch);
  EXPECT_THAT(Exchange(Report("w1", 0, first)).revoked, ElementsAre(1));
}

TEST_F(LeasePoolTest, RenewsWhatIsHeld) {
  AddTransfers(1);
  Begin();
  const auto held = Take("w1", 4);
  for (int i = 0; i < 5; ++i) {
    Advance(absl::Seconds(50));
    EXPECT_THAT(Exchange(Report("w1", 0, held)).revoked, IsEmpty());
  }
  EXPECT_THAT(Take("w2", 4), IsEmpty());
}

TEST_F(LeasePoolTest, LetsALateHolderKeepWhatNobodyElseHas) {
  AddTransfers(1);
  Begin();
  const auto held = Take("w1", 4);
  Advance(absl::Seconds(61));
  EXPECT_THAT(Exchange(Report("w1", 0, held)).revoked, IsEmpty());
  EXPECT_THAT(Take("w2", 4), IsEmpty());
}

TEST_F(LeasePoolTest, AdoptsALateWholeBlobAndRevokesTheSuccessor) {
  AddTransfers(1);
  Begin();
  const auto first = Take("w1", 4);
  Advance(absl::Seconds(60));
  const auto second = Take("w2", 4);
  ASSERT_THAT(second, SizeIs(1));
  const PendingReport successor = Send(Report("w2", 0, second));
  Settle();
  WorkerReport late = Report("w1", 0);
  late.results = {Stored(first[0])};
  EXPECT_THAT(Exchange(late).acknowledged, ElementsAre(1));
  ASSERT_TRUE(successor.answered());
  EXPECT_THAT(successor.get().revoked, ElementsAre(1));
  WorkerReport again = Report("w2", 0);
  again.results = {Stored(second[0])};
  EXPECT_THAT(Exchange(again).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StoredTimes(1), 1);
}

TEST_F(LeasePoolTest, DoesNotBelieveABlobThatIsNotThere) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  WorkerReport report = Report("w1", 0);
  report.results = {Stored(granted[0], /*whole=*/false)};
  EXPECT_THAT(Exchange(report).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kPending);
}

TEST_F(LeasePoolTest, ReturnsAGrantThatNeverArrived) {
  AddTransfers(1);
  Begin();
  const auto lost = Take("w1", 4);
  const SynchronizeAnswer answer = Exchange(Report("w1", 4));
  ASSERT_THAT(answer.granted, SizeIs(1));
  EXPECT_GT(answer.granted[0].epoch, lost[0].epoch);
}

TEST_F(LeasePoolTest, GrantsNothingToACallThatANewerOneReplaced) {
  ASSERT_OK(pool->BeginBackup(kBackup, clock.Now()));
  const PendingReport older = Send(Report("w1", 4));
  Settle();
  const PendingReport newer = Send(Report("w1", 4));
  AddTransfers(1);
  pool->NotifyPending();
  Settle();
  ASSERT_TRUE(older.answered());
  EXPECT_THAT(older.get().granted, IsEmpty());
  ASSERT_TRUE(newer.answered());
  EXPECT_THAT(newer.get().granted, SizeIs(1));
}

TEST_F(LeasePoolTest, ReturnsLeasesSoonWhenTheConnectionCloses) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  const PendingReport held = Send(Report("w1", 0, granted));
  Settle();
  pool->CancelCall(held.number);
  Settle();
  EXPECT_THAT(held.status(), StatusIs(absl::StatusCode::kCancelled));
  Advance(absl::Seconds(5));
  EXPECT_THAT(Take("w2", 4), SizeIs(1));
}

TEST_F(LeasePoolTest, KeepsLeasesOfAWorkerThatCallsAgain) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  const PendingReport held = Send(Report("w1", 0, granted));
  Settle();
  pool->CancelCall(held.number);
  EXPECT_THAT(Exchange(Report("w1", 0, granted)).revoked, IsEmpty());
  Advance(absl::Seconds(30));
  EXPECT_THAT(Take("w2", 4), IsEmpty());
}

TEST_F(LeasePoolTest, AdoptsTheLeasesOfAnEarlierProcess) {
  AddTransfers(2);
  Begin();
  const auto held = Take("w1", 4);
  ASSERT_THAT(held, SizeIs(1));
  Restart();
  Begin();
  EXPECT_THAT(Exchange(Report("w1", 0, held)).revoked, IsEmpty());
  Advance(absl::Seconds(59));
  EXPECT_EQ(pool->stats().leased, 1);
  WorkerReport report = Report("w1", 0);
  report.results = {Stored(held[0])};
  EXPECT_THAT(Exchange(report).acknowledged, SizeIs(1));
  EXPECT_EQ(store.StateOf(held[0].transfer.transfer_id),
            TransferState::kStored);
}

TEST_F(LeasePoolTest, GivesUnnamedLeasesOfAnEarlierProcessToOthers) {
  AddTransfers(1);
  Begin();
  const auto lost = Take("w1", 4);
  Restart();
  Begin();
  EXPECT_THAT(Take("w2", 4), IsEmpty());
  Advance(absl::Seconds(60));
  const auto granted = Take("w2", 4);
  ASSERT_THAT(granted, SizeIs(1));
  EXPECT_GT(granted[0].epoch, lost[0].epoch);
}

TEST_F(LeasePoolTest, SignsStaleUrlsAgain) {
  AddTransfers(1);
  Begin();
  Advance(absl::Minutes(55));
  const PendingReport report = Send(Report("w1", 4));
  Settle();
  ASSERT_TRUE(report.answered());
  ASSERT_THAT(report.get().granted, SizeIs(1));
  EXPECT_GT(report.get().granted[0].download.expires - clock.Monotonic(),
            kMinUrlLife);
  EXPECT_EQ(client.CallCount(bim360::FakeBim360Client::Call::kSignDownload), 2);
}

TEST_F(LeasePoolTest, RefusesUrlsThatPointElsewhere) {
  AddTransfers(1);
  bim360::SignedDownload foreign;
  foreign.ranges.push_back({0, -1, "https://evil.invalid/x?sig=secret"});
  foreign.expires = clock.Monotonic() + absl::Minutes(60);
  client.SetDownload("urn:1", foreign);
  Begin();
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
  EXPECT_THAT(store.ReasonOf(1), HasSubstr("evil.invalid"));
  EXPECT_THAT(store.ReasonOf(1), Not(HasSubstr("secret")));
}

TEST_F(LeasePoolTest, DoesNotHoardUrls) {
  AddTransfers(500);
  Begin();
  EXPECT_LE(pool->stats().ready, 64);
  Exchange(Report("w1", 100));
  Settle();
  EXPECT_GT(pool->stats().ready, 64);
  EXPECT_LE(pool->stats().ready, 200);
}

TEST_F(LeasePoolTest, ResolvesOnlyForTheHolder) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  const int64_t epoch = granted[0].epoch;
  EXPECT_OK(pool->ResolveDownload("w1", 1, epoch));
  EXPECT_THAT(pool->ResolveDownload("w2", 1, epoch),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(pool->ResolveDownload("w1", 1, epoch - 1),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(LeasePoolTest, BoundsHowOftenALeaseIsResolved) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  absl::Status status;
  int resolved = 0;
  while (resolved < 100 && status.ok()) {
    status = pool->ResolveDownload("w1", 1, granted[0].epoch).status();
    if (status.ok()) ++resolved;
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  // What a worker's engine asks for at most.
  EXPECT_GE(resolved, 48);
}

TEST_F(LeasePoolTest, TellsAWorkerToDrainAndGrantsItNothing) {
  AddTransfers(4);
  Begin();
  Exchange(Report("w1", 0));
  ASSERT_OK(pool->DrainWorker("w1"));
  const SynchronizeAnswer answer = Exchange(Report("w1", 4));
  EXPECT_TRUE(answer.drain);
  EXPECT_THAT(answer.granted, IsEmpty());
  EXPECT_THAT(pool->DrainWorker("w9"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LeasePoolTest, RevokesEverythingWhenTheBackupEnds) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  const PendingReport held = Send(Report("w1", 0, granted));
  Settle();
  pool->EndBackup();
  Settle();
  ASSERT_TRUE(held.answered());
  EXPECT_THAT(held.get().revoked, ElementsAre(1));
  EXPECT_FALSE(held.get().backup_running);
}

TEST_F(LeasePoolTest, StopAnswersEveryWaitingReport) {
  Begin();
  const PendingReport held = Send(Report("w1", 4));
  pool->Stop();
  EXPECT_THAT(held.status(), StatusIs(absl::StatusCode::kUnavailable));
  const PendingReport later = Send(Report("w1", 4));
  EXPECT_THAT(later.status(), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace bimbackup::lease
