#include "services/coordinator/lease/bandwidth_shares.h"

#include "gtest/gtest.h"

namespace bimbackup::lease {
namespace {

TEST(BandwidthSharesTest, CapNothingAtFirst) {
  EXPECT_EQ(BandwidthShares().Of("a", 3), 0);
}

TEST(BandwidthSharesTest, ShareTheFleetsCapEvenly) {
  BandwidthShares shares;
  shares.SetFleet(9000);
  EXPECT_EQ(shares.Of("a", 3), 3000);
  EXPECT_EQ(shares.Of("a", 0), 9000);
  shares.SetFleet(2);
  EXPECT_EQ(shares.Of("a", 3), 1) << "0 would lift the cap";
}

TEST(BandwidthSharesTest, TheLowerOfBothCapsCounts) {
  BandwidthShares shares;
  shares.SetWorker("a", 1000);
  EXPECT_EQ(shares.Of("a", 2), 1000);
  EXPECT_EQ(shares.Of("b", 2), 0);
  shares.SetFleet(500);
  EXPECT_EQ(shares.Of("a", 2), 250);
  EXPECT_EQ(shares.Of("b", 2), 250);
  shares.SetFleet(8000);
  EXPECT_EQ(shares.Of("a", 2), 1000);
  shares.SetWorker("a", 0);
  EXPECT_EQ(shares.Of("a", 2), 4000);
  EXPECT_TRUE(shares.workers().empty());
}

}  // namespace
}  // namespace bimbackup::lease
