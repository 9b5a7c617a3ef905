#include "services/download_worker/engine/pace.h"

#include "gtest/gtest.h"

namespace bimbackup::engine {
namespace {

TEST(PaceTest, WithoutACapTheOptionsHold) {
  EngineOptions options;
  const Pace pace(options);
  EXPECT_FALSE(pace.capped());
  EXPECT_EQ(pace.slowest(), options.slowest_bytes_per_second);
  EXPECT_EQ(pace.watchdog_grace(), options.watchdog_grace);
}

TEST(PaceTest, ALowCapGivesRequestsMoreTime) {
  EngineOptions options;
  options.slots = 8;
  Pace pace(options);
  pace.SetCap(1024);
  EXPECT_EQ(pace.slowest(), 64);
  EXPECT_EQ(pace.watchdog_grace(),
            options.watchdog_grace + absl::Seconds(4096));
  pace.SetCap(1);
  EXPECT_EQ(pace.slowest(), 1);
  pace.SetCap(0);
  EXPECT_EQ(pace.slowest(), options.slowest_bytes_per_second);
}

TEST(PaceTest, AHighCapNeverAsksForMoreThanTheOptionsDo) {
  EngineOptions options;
  options.max_bandwidth = int64_t{1} << 40;
  EXPECT_EQ(Pace(options).slowest(), options.slowest_bytes_per_second);
}

}  // namespace
}  // namespace bimbackup::engine
