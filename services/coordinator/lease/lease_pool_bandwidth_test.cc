// How a lease pool divides the bandwidth, and when workers hear of it.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/lease/lease_pool.h"
#include "services/coordinator/lease/pool_harness.h"

namespace bimbackup::lease {
namespace {

using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

// A storage that does what a test wants whenever a blob is looked at.
class WatchedBlobs : public FakeBlobs {
 public:
  explicit WatchedBlobs(std::function<void()> on_look)
      : on_look_(std::move(on_look)) {}

  absl::StatusOr<int64_t> GetBlobSize(absl::string_view sha256) override {
    on_look_();
    return FakeBlobs::GetBlobSize(sha256);
  }

 private:
  const std::function<void()> on_look_;
};

class LeasePoolBandwidthTest : public testing::Test, protected PoolHarness {
 protected:
  // Gives the worker leases; returns them, with the share that came along.
  std::pair<std::vector<GrantedLease>, int64_t> Join(
      const std::string& worker_id) {
    const SynchronizeAnswer answer = Exchange(Report(worker_id, 1));
    EXPECT_THAT(answer.granted, SizeIs(1));
    return {answer.granted, answer.max_bandwidth};
  }
};

TEST_F(LeasePoolBandwidthTest, TellsWaitingWorkersOfANewBandwidth) {
  Begin();
  Exchange(Report("a", 0));
  Exchange(Report("b", 0));
  const PendingReport held = Send(Report("a", 0));
  pool->Pump();
  EXPECT_FALSE(held.answered());
  EXPECT_OK(pool->SetBandwidth("", 1000));
  EXPECT_OK(pool->SetBandwidth("b", 100));
  EXPECT_THAT(pool->SetBandwidth("c", 100),
              StatusIs(absl::StatusCode::kNotFound));
  pool->Pump();
  ASSERT_TRUE(held.answered());
  EXPECT_EQ(held.get().max_bandwidth, 900);
  EXPECT_EQ(Exchange(Report("b", 0)).max_bandwidth, 100);
  EXPECT_EQ(pool->bandwidth().fleet(), 1000);
}

TEST_F(LeasePoolBandwidthTest, TellsACallThatHasOnlyJustComeAsWell) {
  Begin();
  Exchange(Report("a", 0));
  const PendingReport held = Send(Report("a", 0));
  EXPECT_OK(pool->SetBandwidth("", 1000));
  pool->Pump();
  ASSERT_TRUE(held.answered());
  EXPECT_EQ(held.get().max_bandwidth, 1000);
  // Which is no news any more.
  const PendingReport next = Send(Report("a", 0));
  pool->Pump();
  EXPECT_FALSE(next.answered());
}

TEST_F(LeasePoolBandwidthTest, AWorkerThatJoinsLowersTheSharesOfOthersAtOnce) {
  EXPECT_OK(pool->SetBandwidth("", 1000));
  AddTransfers(2);
  Begin();
  const auto [first, whole] = Join("a");
  EXPECT_EQ(whole, 1000);
  const PendingReport held = Send(Report("a", 0, first));
  pool->Pump();
  EXPECT_FALSE(held.answered());
  EXPECT_EQ(Join("b").second, 500);
  ASSERT_TRUE(held.answered());
  EXPECT_EQ(held.get().max_bandwidth, 500);
}

TEST_F(LeasePoolBandwidthTest, WhatOneLeavesGoesToTheOthersAtOnce) {
  EXPECT_OK(pool->SetBandwidth("", 1000));
  AddTransfers(2);
  Begin();
  const auto first = Join("a").first;
  const auto second = Join("b").first;
  EXPECT_EQ(Exchange(Report("a", 0, first)).max_bandwidth, 500);
  const PendingReport held = Send(Report("a", 0, first));
  WorkerReport report = Report("b", 0);
  report.results = {Stored(second[0])};
  // It has nothing left: this is what it would get if it had.
  EXPECT_EQ(Exchange(report).max_bandwidth, 500);
  ASSERT_TRUE(held.answered());
  EXPECT_EQ(held.get().max_bandwidth, 1000);
}

TEST_F(LeasePoolBandwidthTest, ThoseThatHoldNothingTakeNoShare) {
  AddTransfers(1);
  Begin();
  const auto granted = Join("a").first;
  Exchange(Report("b", 0));
  const PendingReport idle = Send(Report("b", 0));
  EXPECT_OK(pool->SetBandwidth("", 1000));
  EXPECT_EQ(Exchange(Report("a", 0, granted)).max_bandwidth, 1000);
  EXPECT_FALSE(idle.answered());
}

TEST_F(LeasePoolBandwidthTest, ADrainingWorkerKeepsItsShareWhileItHoldsLeases) {
  EXPECT_OK(pool->SetBandwidth("", 1000));
  AddTransfers(2);
  Begin();
  const auto first = Join("a").first;
  const auto second = Join("b").first;
  ASSERT_OK(pool->DrainWorker("a"));
  EXPECT_EQ(Exchange(Report("b", 0, second)).max_bandwidth, 500);
  WorkerReport report = Report("a", 0);
  report.draining = true;
  report.results = {Stored(first[0])};
  Exchange(report);
  EXPECT_EQ(Exchange(Report("b", 0, second)).max_bandwidth, 1000);
}

TEST_F(LeasePoolBandwidthTest, ForgetsTheCapOfAWorkerThatIsForgotten) {
  Begin();
  Exchange(Report("a", 0));
  EXPECT_OK(pool->SetBandwidth("a", 1000));
  Advance(WorkerTable::kMemory - absl::Seconds(1));
  EXPECT_THAT(pool->bandwidth().workers(), ElementsAre(Pair("a", 1000)));
  Advance(absl::Seconds(1));
  EXPECT_THAT(pool->bandwidth().workers(), IsEmpty());
  EXPECT_THAT(pool->ListWorkers(), IsEmpty());
  EXPECT_THAT(pool->SetBandwidth("a", 0),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LeasePoolBandwidthTest, TheCapOfAWorkerThatIsGoneCanBeLifted) {
  Begin();
  Exchange(Report("a", 0));
  EXPECT_OK(pool->SetBandwidth("a", 1000));
  Advance(WorkerTable::kMemory / 2);
  EXPECT_OK(pool->SetBandwidth("a", 0));
  EXPECT_THAT(pool->bandwidth().workers(), IsEmpty());
}

TEST_F(LeasePoolBandwidthTest, DoesNotWaitForTheStorage) {
  int looks = 0;
  WatchedBlobs watched([this, &looks] {
    ++looks;
    EXPECT_OK(pool->SetBandwidth("", 1000));
    EXPECT_EQ(pool->bandwidth().fleet(), 1000);
  });
  pool =
      std::make_unique<LeasePool>(store, watched, client, hosts, clock, random);
  ASSERT_OK(pool->LoadEpoch());
  AddTransfers(1);
  Begin();
  const auto granted = Take("a", 1);
  ASSERT_THAT(granted, Not(IsEmpty()));
  WorkerReport report = Report("a", 0);
  report.results = {Stored(granted[0])};
  Exchange(report);
  EXPECT_EQ(looks, 1);
  pool.reset();
}

}  // namespace
}  // namespace bimbackup::lease
