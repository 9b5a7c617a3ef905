#include "services/download_worker/lease/lookahead.h"

#include "gtest/gtest.h"

namespace bimbackup::worker_lease {
namespace {

class LookaheadTest : public testing::Test {
 protected:
  // So many seconds in which transfers end at a steady pace.
  int Run(int seconds, int per_second, int slots) {
    int ahead = 0;
    for (int i = 0; i < 10 * seconds; ++i) {
      ended_tenths_ += per_second;
      now_ += absl::Milliseconds(100);
      ahead = lookahead_.Transfers(ended_tenths_ / 10, now_, slots);
    }
    return ahead;
  }

  Lookahead lookahead_;
  int64_t ended_tenths_ = 0;
  absl::Duration now_ = absl::Seconds(1000);
};

TEST_F(LookaheadTest, BeginsWithAQuarterOfTheSlots) {
  EXPECT_EQ(lookahead_.Transfers(0, now_, 16), 4);
  EXPECT_EQ(Lookahead().Transfers(0, now_, 2), 1);
}

TEST_F(LookaheadTest, KeepsWhatEndsWithinTwoSeconds) {
  EXPECT_EQ(Run(5, 7, 16), 14);
}

TEST_F(LookaheadTest, FollowsThePace) {
  EXPECT_EQ(Run(5, 1000, 16), 32);
  EXPECT_EQ(Run(5, 6, 16), 12);
}

TEST_F(LookaheadTest, FastWorkersKeepAsManyAsTheyHaveSlots) {
  EXPECT_EQ(Run(5, 5000, 64), 64);
}

TEST_F(LookaheadTest, SmallFastWorkersKeepABatch) {
  EXPECT_EQ(Run(5, 5000, 4), 32);
}

TEST_F(LookaheadTest, AWorkerWithNothingToDoKeepsTheLeast) {
  Run(5, 1000, 16);
  EXPECT_EQ(Run(5, 0, 16), 4);
}

}  // namespace
}  // namespace bimbackup::worker_lease
