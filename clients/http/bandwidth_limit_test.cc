#include "clients/http/bandwidth_limit.h"

#include "gtest/gtest.h"

namespace bimbackup::http {
namespace {

constexpr absl::Duration kStart = absl::Seconds(100);

TEST(BandwidthLimitTest, WithoutACapEverythingMayBeDelivered) {
  BandwidthLimit limit(0);
  limit.Deliver(int64_t{1} << 40, kStart);
  EXPECT_TRUE(limit.MayDeliver(kStart));
}

TEST(BandwidthLimitTest, WaitsUntilWhatWasDeliveredIsPaidFor) {
  BandwidthLimit limit(1000);
  limit.Deliver(2100, kStart);
  EXPECT_FALSE(limit.MayDeliver(kStart + absl::Seconds(1.9)));
  EXPECT_TRUE(limit.MayDeliver(kStart + absl::Seconds(2)));
}

TEST(BandwidthLimitTest, AHigherCapShortensTheWaitOfWhatIsOwed) {
  BandwidthLimit limit(1000);
  limit.Deliver(100'100, kStart);
  limit.SetRate(100'000, kStart);
  EXPECT_FALSE(limit.MayDeliver(kStart + absl::Seconds(0.9)));
  EXPECT_TRUE(limit.MayDeliver(kStart + absl::Seconds(1.1)));
}

TEST(BandwidthLimitTest, ALowerCapLengthensIt) {
  BandwidthLimit limit(1000);
  limit.Deliver(1100, kStart);
  limit.SetRate(100, kStart);
  EXPECT_FALSE(limit.MayDeliver(kStart + absl::Seconds(9)));
  EXPECT_TRUE(limit.MayDeliver(kStart + absl::Seconds(10.1)));
}

TEST(BandwidthLimitTest, ACapThatIsLiftedLetsEverythingGoOn) {
  BandwidthLimit limit(1);
  limit.Deliver(1'000'000, kStart);
  EXPECT_FALSE(limit.MayDeliver(kStart));
  limit.SetRate(0, kStart);
  EXPECT_TRUE(limit.MayDeliver(kStart));
}

TEST(BandwidthLimitTest, ACapAfterOneThatWasLiftedStartsWithoutDebt) {
  BandwidthLimit limit(1);
  limit.Deliver(1'000'000, kStart);
  limit.SetRate(0, kStart);
  limit.SetRate(1000, kStart + absl::Seconds(1));
  EXPECT_TRUE(limit.MayDeliver(kStart + absl::Seconds(1)));
  limit.Deliver(1100, kStart + absl::Seconds(1));
  EXPECT_FALSE(limit.MayDeliver(kStart + absl::Seconds(1.9)));
  EXPECT_TRUE(limit.MayDeliver(kStart + absl::Seconds(2.1)));
}

}  // namespace
}  // namespace bimbackup::http
