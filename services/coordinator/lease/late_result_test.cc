// Results that come when nobody waits for them any more.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/lease/pool_harness.h"

namespace bimbackup::lease {
namespace {

using catalog::TransferState;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LateResultTest : public testing::Test, protected PoolHarness {
 protected:
  // What the worker is told of a result.
  SynchronizeAnswer Tell(const TransferResult& result) {
    WorkerReport report = Report("w1", 0);
    report.results = {result};
    return Exchange(report);
  }

  // A lease of the one transfer, whose backup then ends without it.
  GrantedLease LeaseThenEnd() {
    AddTransfers(1);
    Begin();
    const std::vector<GrantedLease> granted = Take("w1", 4);
    EXPECT_THAT(granted, SizeIs(1));
    pool->EndBackup();
    EXPECT_OK(store.FailOpen(kBackup, "the run took longer"));
    Settle();
    return granted[0];
  }
};

TEST_F(LateResultTest, WholeBlobIsAdoptedAfterItsBackupHasEnded) {
  const GrantedLease lease = LeaseThenEnd();
  EXPECT_THAT(Tell(Stored(lease)).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StoredTimes(1), 1);
  EXPECT_TRUE(store.ListAttempts(1)->at(0).late);
  // Once.
  EXPECT_THAT(Tell(Stored(lease)).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StoredTimes(1), 1);
}

TEST_F(LateResultTest, BlobThatIsNotThereIsNotAdopted) {
  const GrantedLease lease = LeaseThenEnd();
  EXPECT_THAT(Tell(Stored(lease, /*whole=*/false)).acknowledged,
              ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
}

TEST_F(LateResultTest, BlobOfAnotherSizeThanListedIsNotAdopted) {
  const GrantedLease lease = LeaseThenEnd();
  TransferResult result = Stored(lease);
  result.size += 1;
  EXPECT_THAT(Tell(result).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StateOf(1), TransferState::kFailed);
}

TEST_F(LateResultTest, ResultOfAnUnknownTransferIsAcknowledged) {
  const GrantedLease lease = LeaseThenEnd();
  TransferResult result = Stored(lease);
  result.transfer_id = 99;
  EXPECT_THAT(Tell(result).acknowledged, ElementsAre(99));
}

TEST_F(LateResultTest, CatalogThatFailsLeavesTheResultWithItsWorker) {
  const GrantedLease lease = LeaseThenEnd();
  store.FailChanges(absl::UnavailableError("the disk is away"));
  WorkerReport report = Report("w1", 0);
  report.results = {Stored(lease)};
  const PendingReport refused = Send(report);
  Settle();
  ASSERT_TRUE(refused.answered());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable);
  store.FailChanges(absl::OkStatus());
  EXPECT_THAT(Tell(Stored(lease)).acknowledged, ElementsAre(1));
  EXPECT_EQ(store.StoredTimes(1), 1);
}

TEST_F(LateResultTest, LateFailureIsAnAttemptThatChangesNothing) {
  AddTransfers(1);
  Begin();
  const std::vector<GrantedLease> first = Take("w1", 4);
  Advance(absl::Seconds(60));
  const std::vector<GrantedLease> second = Take("w2", 4);
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_THAT(Tell(Ended(first[0], Outcome::kNotFound)).acknowledged,
              ElementsAre(1));
  const auto attempts = *store.ListAttempts(1);
  ASSERT_THAT(attempts, SizeIs(2));
  // The loss of the lease, then what its holder has to say.
  EXPECT_EQ(attempts[0].outcome, static_cast<int>(Outcome::kUnspecified));
  EXPECT_FALSE(attempts[0].late);
  EXPECT_EQ(attempts[1].outcome, static_cast<int>(Outcome::kNotFound));
  EXPECT_TRUE(attempts[1].late);
  EXPECT_EQ(store.StateOf(1), TransferState::kLeased);
  EXPECT_THAT(Exchange(Report("w2", 0, second)).revoked, IsEmpty());
}

TEST_F(LateResultTest, LateFailuresDoNotCountAfterARestart) {
  AddTransfers(1);
  Begin();
  const std::vector<GrantedLease> first = Take("w1", 4);
  Advance(absl::Seconds(60));
  ASSERT_THAT(Take("w2", 4), SizeIs(1));
  for (int i = 0; i < kMaxNotFound; ++i) {
    Tell(Ended(first[0], Outcome::kNotFound));
  }
  Restart();
  Begin();
  Advance(absl::Seconds(120));
  const std::vector<GrantedLease> again = Take("w1", 4);
  ASSERT_THAT(again, SizeIs(1));
  Tell(Ended(again[0], Outcome::kNotFound));
  EXPECT_EQ(store.StateOf(1), TransferState::kPending);
}

TEST_F(LateResultTest, WhatIsGivenBackLateIsNoAttempt) {
  const GrantedLease lease = LeaseThenEnd();
  EXPECT_THAT(Tell(Ended(lease, Outcome::kReleased)).acknowledged,
              ElementsAre(1));
  EXPECT_THAT(*store.ListAttempts(1), IsEmpty());
}

}  // namespace
}  // namespace bimbackup::lease
