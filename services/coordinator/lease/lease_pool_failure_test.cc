// What the pool does when signing, a worker, the storage or the catalog
// fails.

#include "services/coordinator/lease/lease_pool.h"

#include <set>
#include <string>
#include <thread>
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

class LeasePoolFailureTest : public testing::Test, protected PoolHarness {};

TEST_F(LeasePoolFailureTest, FailsATransferThatMayNotBeSigned) {
  AddTransfers(1);
  client.FailNext(bim360::FakeBim360Client::Call::kSignDownload, "urn:1",
                  absl::PermissionDeniedError("403 of the test"), -1);
  Begin();
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
  EXPECT_THAT(store.ReasonOf(1), HasSubstr("403 of the test"));
  EXPECT_TRUE(pool->stats().drained);
}

TEST_F(LeasePoolFailureTest, AsksOnceMoreForAnObjectThatIsNotFound) {
  AddTransfers(1);
  client.FailNext(bim360::FakeBim360Client::Call::kSignDownload, "urn:1",
                  absl::NotFoundError("404"), 1);
  Begin();
  EXPECT_EQ(store.StateOf(1), TransferState::kPending);
  Advance(absl::Seconds(5));
  EXPECT_THAT(Take("w1", 4), SizeIs(1));
}

TEST_F(LeasePoolFailureTest, TheEndOfABackupEndsWhatIsBeingSigned) {
  AddTransfers(3);
  client.HoldCalls(true);
  ASSERT_OK(pool->BeginBackup(kBackup, clock.Now()));
  while (client.WaitingCalls() < 3) pool->Pump();
  pool->EndBackup();
  while (client.WaitingCalls() > 0) std::this_thread::yield();
  client.HoldCalls(false);
  // None of it counts against the transfers.
  Begin();
  EXPECT_EQ(pool->stats().ready, 3);
  EXPECT_THAT(*store.ListAttempts(1), IsEmpty());
}

TEST_F(LeasePoolFailureTest, TheEndOfABackupEndsWhatIsSubmittedMeanwhile) {
  AddTransfers(1);
  client.HoldCalls(true);
  ASSERT_OK(pool->BeginBackup(kBackup, clock.Now()));
  while (client.WaitingCalls() < 1) pool->Pump();
  AddTransfers(1);
  pool->NotifyPending();
  std::thread ending;
  store.SetBeforeListing([&] {
    ending = std::thread([this] { pool->EndBackup(); });
    while (client.WaitingCalls() > 0) std::this_thread::yield();
  });
  pool->Pump();
  ending.join();
  // Waits for the calls that run, which nothing lets go.
  pool.reset();
  EXPECT_EQ(client.WaitingCalls(), 0);
}

TEST_F(LeasePoolFailureTest, FailsATransferAfterItsLastAttempt) {
  AddTransfers(1);
  Begin();
  for (int attempt = 1; attempt <= kMaxRetryable; ++attempt) {
    Advance(absl::Seconds(40));
    const auto granted = Take("w1", 4);
    ASSERT_THAT(granted, SizeIs(1)) << attempt;
    WorkerReport report = Report("w1", 0);
    report.results = {Ended(granted[0], Outcome::kRetryable)};
    Exchange(report);
  }
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
  EXPECT_THAT(*store.ListAttempts(1), SizeIs(kMaxRetryable));
}

TEST_F(LeasePoolFailureTest, CountsAttemptsOfAnEarlierProcess) {
  AddTransfers(1);
  Begin();
  const absl::Time begun = clock.Now();
  for (int attempt = 1; attempt <= kMaxRetryable; ++attempt) {
    Restart();
    ASSERT_OK(pool->BeginBackup(kBackup, begun));
    Settle();
    const auto granted = Take("w1", 4);
    ASSERT_THAT(granted, SizeIs(1)) << attempt;
    WorkerReport report = Report("w1", 0);
    report.results = {Ended(granted[0], Outcome::kRetryable)};
    Exchange(report);
  }
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
}

TEST_F(LeasePoolFailureTest, GrantsNothingWhileTheStorageIsFull) {
  AddTransfers(2);
  Begin();
  const auto granted = Take("w1", 1);
  ASSERT_THAT(granted, SizeIs(1));
  blobs.SetFree(0);
  TransferResult full = Ended(granted[0], Outcome::kStorageFailed);
  full.message = "no space left";
  WorkerReport report = Report("w1", 4);
  report.results = {full};
  EXPECT_THAT(Exchange(report).granted, IsEmpty());
  EXPECT_EQ(pool->stats().pause.reason, PauseReason::kStorageFull);
  Advance(absl::Minutes(2));
  EXPECT_THAT(Take("w1", 4), IsEmpty());
  EXPECT_EQ(pool->stats().pause.reason, PauseReason::kStorageFull);
  blobs.SetFree(int64_t{1} << 40);
  Advance(absl::Minutes(2));
  EXPECT_THAT(Take("w1", 4), Not(IsEmpty()));
  EXPECT_FALSE(pool->stats().pause.on());
}

TEST_F(LeasePoolFailureTest, DoesNotTakeABlobThatIsShorterThanListed) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 1);
  ASSERT_THAT(granted, SizeIs(1));
  TransferResult cut = Stored(granted[0]);
  cut.sha256 = std::string(64, 'c');
  --cut.size;
  blobs.Put(cut.sha256, cut.size);
  WorkerReport report = Report("w1", 0);
  report.results = {cut};
  EXPECT_THAT(Exchange(report).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kPending);
}

TEST_F(LeasePoolFailureTest, FailureThatOnlyWorkersSeeStopsNobodyAndEnds) {
  AddTransfers(1);
  Begin();
  for (int attempt = 1; attempt <= kMaxStorageFailed; ++attempt) {
    EXPECT_EQ(store.StateOf(1), TransferState::kPending) << attempt;
    const auto granted = Take("w1", 1);
    ASSERT_THAT(granted, SizeIs(1)) << attempt;
    TransferResult failed = Ended(granted[0], Outcome::kStorageFailed);
    failed.message = "input/output error";
    WorkerReport report = Report("w1", 0);
    report.results = {failed};
    Exchange(report);
    EXPECT_FALSE(pool->stats().pause.on());
    Advance(absl::Seconds(40));
  }
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
}

TEST_F(LeasePoolFailureTest, StorageClosedToOneWorkerUsesUpNoAttempt) {
  AddTransfers(1);
  Begin();
  for (int attempt = 0; attempt < 3 * kMaxStorageFailed; ++attempt) {
    const auto granted = Take("w1", 1);
    ASSERT_THAT(granted, SizeIs(1)) << attempt;
    WorkerReport report = Report("w1", 0);
    report.display_name = "one";
    report.storage_problem = "permission denied";
    report.results = {Ended(granted[0], Outcome::kStorageClosed)};
    Exchange(report);
    EXPECT_EQ(pool->stats().pause.reason, PauseReason::kWorkerStorage);
    EXPECT_EQ(pool->stats().pause.message, "worker one: permission denied");
    Advance(absl::Seconds(2));
  }
  EXPECT_EQ(store.StateOf(1), TransferState::kPending);
  EXPECT_THAT(*store.ListAttempts(1), IsEmpty());
  // Another one that is well: nothing is paused.
  const auto granted = Take("w2", 1);
  EXPECT_FALSE(pool->stats().pause.on());
  WorkerReport report = Report("w2", 0);
  report.results = {Stored(granted[0])};
  Exchange(report);
  EXPECT_EQ(store.StateOf(1), TransferState::kStored);
}

TEST_F(LeasePoolFailureTest, PausesForAStorageThatCanOnlyBeRead) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 1);
  ASSERT_THAT(granted, SizeIs(1));
  blobs.FailWrites(absl::PermissionDeniedError("read-only file system"));
  WorkerReport report = Report("w1", 1);
  report.results = {Ended(granted[0], Outcome::kStorageClosed)};
  EXPECT_THAT(Exchange(report).granted, IsEmpty());
  EXPECT_EQ(pool->stats().pause.reason, PauseReason::kStorageDenied);
  blobs.FailWrites(absl::OkStatus());
  Advance(absl::Minutes(2));
  EXPECT_THAT(Take("w1", 1), SizeIs(1));
  EXPECT_FALSE(pool->stats().pause.on());
}

TEST_F(LeasePoolFailureTest, StorageThatIsGoneFailsNoTransfer) {
  AddTransfers(1);
  Begin();
  for (int attempt = 0; attempt < 2 * kMaxStorageFailed; ++attempt) {
    const auto granted = Take("w1", 1);
    ASSERT_THAT(granted, SizeIs(1)) << attempt;
    blobs.SetFree(0);
    WorkerReport report = Report("w1", 0);
    report.results = {Ended(granted[0], Outcome::kStorageFailed)};
    Exchange(report);
    blobs.SetFree(int64_t{1} << 40);
    Advance(absl::Minutes(2));
  }
  EXPECT_NE(store.StateOf(1), TransferState::kFailed);
}

TEST_F(LeasePoolFailureTest, KeepsAResultUncountedWhileTheStorageIsGone) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  blobs.Fail(absl::UnavailableError("the share is gone"));
  WorkerReport report = Report("w1", 0);
  report.results = {Stored(granted[0])};
  const PendingReport refused = Send(report);
  Settle();
  EXPECT_THAT(refused.status(), StatusIs(absl::StatusCode::kUnavailable,
                                         HasSubstr("the share is gone")));
  blobs.Fail(absl::OkStatus());
  EXPECT_THAT(Exchange(report).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kStored);
}

TEST_F(LeasePoolFailureTest, CountsNothingThatTheCatalogDidNotTake) {
  AddTransfers(1);
  Begin();
  const auto granted = Take("w1", 4);
  store.FailChanges(absl::ResourceExhaustedError("no room"));
  WorkerReport report = Report("w1", 0);
  report.results = {Stored(granted[0])};
  const PendingReport refused = Send(report);
  Settle();
  EXPECT_THAT(refused.status(), StatusIs(absl::StatusCode::kUnavailable));
  store.FailChanges(absl::OkStatus());
  EXPECT_THAT(Exchange(report).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StoredTimes(1), 1);
}

TEST_F(LeasePoolFailureTest, SaysThatTheCredentialsAreRefused) {
  AddTransfers(1);
  client.FailNext(bim360::FakeBim360Client::Call::kSignDownload, "",
                  absl::UnauthenticatedError("secret refused"), -1);
  Begin();
  EXPECT_EQ(pool->stats().credential_problem, "secret refused");
}

}  // namespace
}  // namespace bimbackup::lease
