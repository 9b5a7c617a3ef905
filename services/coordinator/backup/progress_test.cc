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
  pool.storage_problem = "full";
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

TEST(FindLimitTest, SaysNothingOfWhatHasEnded) {
  lease::PoolStats pool;
  pool.ready = 1;
  EXPECT_EQ(FindLimit(BackupState::kSucceeded, pool, ApiLoad()),
            Limit::kUnspecified);
}

TEST(EstimateTest, TakesTheSlowest) {
  catalog::BackupCounters counters;
  counters.transfers = 100;
  counters.transfer_bytes = 1000;
  ApiLoad api;
  api.folders_a_minute = 300;
  api.storage_a_minute = 1000;
  EXPECT_EQ(EstimateRemaining(counters, 0, 10, api), absl::Seconds(100));
  EXPECT_EQ(EstimateRemaining(counters, 0, 1000, api), absl::Seconds(6));
  EXPECT_EQ(EstimateRemaining(counters, 3000, 1000, api), absl::Minutes(10));
}

TEST(EstimateTest, SaysNothingWithoutARate) {
  catalog::BackupCounters counters;
  counters.transfers = 1;
  counters.transfer_bytes = 1;
  EXPECT_EQ(EstimateRemaining(counters, 0, 0, ApiLoad()), std::nullopt);
}

TEST(EstimateTest, IsFiniteWithoutApiLimits) {
  catalog::BackupCounters counters;
  ApiLoad api;
  api.folders_a_minute = std::numeric_limits<double>::infinity();
  api.storage_a_minute = std::numeric_limits<double>::infinity();
  EXPECT_EQ(EstimateRemaining(counters, 10, 0, api), absl::ZeroDuration());
}

}  // namespace
}  // namespace bimbackup::backup
