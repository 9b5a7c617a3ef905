#include "services/coordinator/lease/bandwidth_shares.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::lease {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(BandwidthSharesTest, CapNothingAtFirst) {
  EXPECT_THAT(BandwidthShares().Divide({"a"}), ElementsAre(Pair("a", 0)));
}

TEST(BandwidthSharesTest, ShareTheFleetsCapEvenly) {
  BandwidthShares shares;
  shares.SetFleet(9000);
  EXPECT_THAT(shares.Divide({"a", "b", "c"}),
              ElementsAre(Pair("a", 3000), Pair("b", 3000), Pair("c", 3000)));
  EXPECT_THAT(shares.Divide({}), IsEmpty());
  shares.SetFleet(2);
  EXPECT_THAT(shares.Divide({"a", "b", "c"}),
              ElementsAre(Pair("a", 1), Pair("b", 1), Pair("c", 1)))
      << "0 would lift the cap";
}

TEST(BandwidthSharesTest, TheLowerOfBothCapsCounts) {
  BandwidthShares shares;
  shares.SetWorker("a", 1000);
  EXPECT_THAT(shares.Divide({"a", "b"}),
              ElementsAre(Pair("a", 1000), Pair("b", 0)));
  shares.SetFleet(500);
  EXPECT_THAT(shares.Divide({"a", "b"}),
              ElementsAre(Pair("a", 250), Pair("b", 250)));
  shares.SetWorker("a", 0);
  EXPECT_TRUE(shares.workers().empty());
}

TEST(BandwidthSharesTest, WhatOneCannotUseGoesToTheOthers) {
  BandwidthShares shares;
  shares.SetFleet(9000);
  shares.SetWorker("b", 1000);
  EXPECT_THAT(shares.Divide({"a", "b", "c"}),
              ElementsAre(Pair("a", 4000), Pair("b", 1000), Pair("c", 4000)));
  // What "b" leaves raises the even share above the cap of "c", too.
  shares.SetWorker("c", 3500);
  EXPECT_THAT(shares.Divide({"a", "b", "c"}),
              ElementsAre(Pair("a", 4500), Pair("b", 1000), Pair("c", 3500)));
  shares.SetWorker("a", 2000);
  EXPECT_THAT(shares.Divide({"a", "b", "c"}),
              ElementsAre(Pair("a", 2000), Pair("b", 1000), Pair("c", 3500)));
}

TEST(BandwidthSharesTest, NeverAddUpToMoreThanTheFleetsCap) {
  BandwidthShares shares;
  shares.SetFleet(100);
  shares.SetWorker("b", 7);
  int64_t sum = 0;
  for (const auto& [id, share] : shares.Divide({"a", "b", "c", "d"})) {
    sum += share;
  }
  EXPECT_EQ(sum, 100);
}

TEST(BandwidthSharesTest, ForgetTheCapsOfWorkersThatAreGone) {
  BandwidthShares shares;
  shares.SetWorker("a", 1000);
  shares.SetWorker("b", 2000);
  shares.KeepOnly({"b", "c"});
  EXPECT_THAT(shares.workers(), ElementsAre(Pair("b", 2000)));
}

}  // namespace
}  // namespace bimbackup::lease
