#include "services/coordinator/backup/progress.h"

#include <limits>

#include "gtest/gtest.h"

namespace bimbackup::backup {
namespace {

using catalog::BackupState;

TEST(RateMeterTest, IsZeroBeforeTheSecondSample) {
  RateMeter meter;
  EXPECT_EQ(meter.PerSecond(), 0);
  meter.Add(absl::Seconds(5), 1000);
  EXPECT_EQ(meter.PerSecond(), 0);
}

TEST(RateMeterTest, ForgetsWhatIsLongAgo) {
  RateMeter meter;
  for (int i = 0; i <= 20; ++i) meter.Add(absl::Seconds(i), i * 100);
  EXPECT_DOUBLE_EQ(meter.PerSecond(), 100);
  for (int i = 21; i <= 40; ++i) meter.Add(absl::Seconds(i), 2000);
  EXPECT_DOUBLE_EQ(meter.PerSecond(), 0);
}

TEST(RateMeterTest, IsNeverNegative) {
  RateMeter meter;
  meter.Add(absl::Seconds(1), 500);
  meter.Add(absl::Seconds(2), 100);
  EXPECT_EQ(meter.PerSecond(), 0);
}

TEST(FindLimitTest, NamesTheStorageFirst) {
  lease::PoolStats pool;
  pool.pause = {lease::PauseReason::kStorageFull, "full"};
  EXPECT_EQ(FindLimit(BackupState::kTransferring, pool, ApiLoad()),
            Limit::kStorage);
}

TEST(FindLimitTest, MissesWorkersOnlyWhereThereIsWork) {
  lease::PoolStats pool;
  EXPECT_EQ(FindLimit(BackupState::kTransferring, pool, ApiLoad()),
            Limit::kUnspecified);
  pool.ready = 1;
  EXPECT_EQ(FindLimit(BackupState::kTransferring, pool, ApiLoad()),
            Limit::kNoWorker);
}

TEST(FindLimitTest, NamesTheApiWhoseTurnIsAwaited) {
  lease::PoolStats pool;
  pool.workers = 1;
  pool.free_slots = 4;
  pool.leased = 2;
  ApiLoad api;
  EXPECT_EQ(FindLimit(BackupState::kCrawling, pool, api), Limit::kNetwork);
  api.waiting_folders = 3;
  EXPECT_EQ(FindLimit(BackupState::kCrawling, pool, api), Limit::kApiFolders);
  api.waiting_storage = 1;
  EXPECT_EQ(FindLimit(BackupState::kCrawling, pool, api), Limit::kApiStorage);
}

TEST(FindLimitTest, KnowsWhenNothingIsLeftToFetch) {
  EXPECT_EQ(FindLimit(BackupState::kCommitting, lease::PoolStats(), ApiLoad()),
            Limit::kNothingLeft);
}

TEST(FindLimitTest, SaysNothingOfWhatHasEnded) {
  lease::PoolStats pool;
  pool.ready = 1;
  EXPECT_EQ(FindLimit(BackupState::kSucceeded, pool, ApiLoad()),
            Limit::kUnspecified);
}

TEST(PlanTest, TakesTheFloorFromTheClassThatNeedsLongest) {
  catalog::BackupRecord record;
  record.counters.transfers = 40'230;
  record.counters.transfer_bytes = 500;
  catalog::AccountTotals totals;
  totals.frontier = 300;
  const BackupPlan plan = MakePlan(record, totals, 40'230, 1, ApiLoad());
  EXPECT_EQ(plan.transfers, 40'230);
  EXPECT_EQ(plan.bytes, 500);
  EXPECT_EQ(plan.api_calls.at("folders"), 300);
  EXPECT_EQ(plan.api_calls.at("storage"), 40'230);
  EXPECT_EQ(plan.floor_class, "storage");
  EXPECT_EQ(plan.floor, absl::Minutes(40));
  EXPECT_EQ(plan.floor_calls_per_minute, 1000);
}

TEST(PlanTest, CountsBatchesWhereOneCallSignsSeveral) {
  catalog::BackupRecord record;
  record.counters.transfers = 51;
  const BackupPlan plan =
      MakePlan(record, catalog::AccountTotals(), 51, 25, ApiLoad());
  EXPECT_EQ(plan.api_calls.at("storage"), 3);
}

TEST(PlanTest, OfADryRunHoldsTheListingsThatItsBackupRepeats) {
  catalog::BackupRecord record;
  record.state = BackupState::kSucceeded;
  record.counters.api_calls = {{"projects", 2}, {"folders", 900}};
  catalog::AccountTotals totals;
  totals.projects = 170;
  const BackupPlan plan = MakePlan(record, totals, 0, 1, ApiLoad());
  EXPECT_EQ(plan.api_calls.at("projects"), 2);
  EXPECT_EQ(plan.api_calls.at("folders"), 170);
  EXPECT_EQ(plan.api_calls.count("storage"), 0u);
}

TEST(PlanTest, HasNoFloorWithoutARate) {
  catalog::BackupRecord record;
  record.counters.transfers = 1000;
  ApiLoad api;
  api.storage_a_minute = std::numeric_limits<double>::infinity();
  const BackupPlan plan =
      MakePlan(record, catalog::AccountTotals(), 1000, 1, api);
  EXPECT_EQ(plan.api_calls.at("storage"), 1000);
  EXPECT_TRUE(plan.floor_class.empty());
  EXPECT_EQ(plan.floor, absl::ZeroDuration());
}

TEST(PlanTest, HasNoFloorWhereOneWindowHoldsAllCalls) {
  catalog::BackupRecord record;
  const auto plan_of = [&record](int64_t transfers) {
    return MakePlan(record, catalog::AccountTotals(), transfers, 1, ApiLoad());
  };
  EXPECT_EQ(plan_of(1000).floor, absl::ZeroDuration());
  EXPECT_TRUE(plan_of(1000).floor_class.empty());
  EXPECT_EQ(plan_of(1001).floor, absl::Minutes(1));
}

TEST(EstimateTest, TakesTheSlowest) {
  BackupPlan plan;
  plan.transfers = 100;
  plan.bytes = 1000;
  plan.api_calls = {{"storage", 100}};
  EXPECT_EQ(EstimateRemaining(plan, 10, ApiLoad()), absl::Seconds(100));
  EXPECT_EQ(EstimateRemaining(plan, 1000, ApiLoad()), absl::Seconds(6));
  plan.api_calls["folders"] = 3000;
  EXPECT_EQ(EstimateRemaining(plan, 1000, ApiLoad()), absl::Minutes(10));
}

TEST(EstimateTest, CountsTheCallsOfThePlanAndNotItsTransfers) {
  catalog::BackupRecord record;
  record.counters.transfers = 50'000;
  const BackupPlan plan =
      MakePlan(record, catalog::AccountTotals(), 50'000, 25, ApiLoad());
  EXPECT_EQ(EstimateRemaining(plan, 0, ApiLoad()), absl::Minutes(2));
}

TEST(EstimateTest, SaysNothingWithoutARate) {
  BackupPlan plan;
  plan.transfers = 1;
  plan.bytes = 1;
  EXPECT_EQ(EstimateRemaining(plan, 0, ApiLoad()), std::nullopt);
}

TEST(EstimateTest, IsFiniteWithoutApiLimits) {
  BackupPlan plan;
  plan.api_calls = {{"storage", 10}, {"folders", 10}};
  ApiLoad api;
  api.folders_a_minute = std::numeric_limits<double>::infinity();
  api.storage_a_minute = std::numeric_limits<double>::infinity();
  EXPECT_EQ(EstimateRemaining(plan, 0, api), absl::ZeroDuration());
}

}  // namespace
}  // namespace bimbackup::backup
