#include "services/download_worker/engine/slot_schedule.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::engine {
namespace {

using testing::ElementsAre;

// Hands out all that is free.
std::vector<uint64_t> Drain(SlotSchedule& schedule, bool may_start = true) {
  std::vector<uint64_t> handles;
  while (const auto grant = schedule.Next(may_start)) {
    handles.push_back(grant->handle);
  }
  return handles;
}

TEST(SlotScheduleTest, MixesTheLargestWithTheOldest) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1);
  schedule.Enqueue(2, 2);
  schedule.Enqueue(3, 500);
  schedule.Enqueue(4, 900);
  schedule.Enqueue(5, 700);
  EXPECT_THAT(Drain(schedule), ElementsAre(4, 5, 1, 2));
  EXPECT_EQ(schedule.queued(), 1);
}

TEST(SlotScheduleTest, LeavesNoSlotIdleWhereOnlyOneKindWaits) {
  SlotSchedule small(3, 100);
  for (uint64_t i = 1; i <= 4; ++i) small.Enqueue(i, 1);
  EXPECT_THAT(Drain(small), ElementsAre(1, 2, 3));
  SlotSchedule large(3, 100);
  for (uint64_t i = 1; i <= 4; ++i) large.Enqueue(i, 1000 * i);
  EXPECT_THAT(Drain(large), ElementsAre(4, 1, 2));
}

TEST(SlotScheduleTest, GivesPartsOfARunningFileTheirShare) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1000);
  EXPECT_THAT(Drain(schedule), ElementsAre(1));
  schedule.SetWanted(1, 8);
  for (uint64_t i = 2; i <= 9; ++i) schedule.Enqueue(i, 1);
  EXPECT_THAT(Drain(schedule), ElementsAre(1, 2, 3));
  schedule.Release(2);
  EXPECT_THAT(Drain(schedule), ElementsAre(4));
}

TEST(SlotScheduleTest, GivesARunningFileWhatNobodyElseWants) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1000);
  Drain(schedule);
  schedule.SetWanted(1, 8);
  EXPECT_THAT(Drain(schedule), ElementsAre(1, 1, 1));
  EXPECT_EQ(schedule.slots_in_use(), 4);
}

TEST(SlotScheduleTest, FinishesStartedSmallFilesFirst) {
  SlotSchedule schedule(1, 100);
  schedule.Enqueue(1, 1);
  schedule.Enqueue(2, 1);
  Drain(schedule);
  schedule.Release(1);
  schedule.SetWanted(1, 1);
  EXPECT_THAT(Drain(schedule), ElementsAre(1));
}

TEST(SlotScheduleTest, StartsNothingWhileItMayNot) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1);
  EXPECT_THAT(Drain(schedule, /*may_start=*/false), ElementsAre());
  const auto grant = schedule.Next(/*may_start=*/true);
  ASSERT_TRUE(grant.has_value());
  EXPECT_TRUE(grant->start);
}

TEST(SlotScheduleTest, TakesAllSlotsBackAtTheEnd) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1000);
  Drain(schedule);
  schedule.SetWanted(1, 2);
  Drain(schedule);
  schedule.End(1);
  EXPECT_EQ(schedule.slots_in_use(), 0);
  schedule.Release(1);
  schedule.SetWanted(1, 1);
  EXPECT_THAT(Drain(schedule), ElementsAre());
  EXPECT_EQ(schedule.slots_in_use(), 0);
}

TEST(SlotScheduleTest, ForgetsWhatLeavesTheQueue) {
  SlotSchedule schedule(4, 100);
  schedule.Enqueue(1, 1000);
  EXPECT_TRUE(schedule.RemoveQueued(1));
  EXPECT_FALSE(schedule.RemoveQueued(1));
  EXPECT_THAT(Drain(schedule), ElementsAre());
}

TEST(SlotScheduleTest, SlotsAreSpareOnlyWhereNobodyWaits) {
  SlotSchedule schedule(4, 100);
  EXPECT_EQ(schedule.SpareSlots(), 4);
  schedule.Enqueue(1, 10);
  EXPECT_EQ(schedule.SpareSlots(), 0);
  ASSERT_TRUE(schedule.Next(true).has_value());
  EXPECT_EQ(schedule.SpareSlots(), 3);
  schedule.SetWanted(1, 1);
  EXPECT_EQ(schedule.SpareSlots(), 0);
}

TEST(SlotScheduleTest, FewerSlotsTakeEffectAsTheyAreReleased) {
  SlotSchedule schedule(3, 100);
  for (uint64_t handle = 1; handle <= 5; ++handle) schedule.Enqueue(handle, 1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(schedule.Next(true).has_value());
  schedule.SetSlots(1);
  EXPECT_FALSE(schedule.Next(true).has_value());
  schedule.End(1);
  schedule.End(2);
  EXPECT_FALSE(schedule.Next(true).has_value());
  schedule.End(3);
  EXPECT_TRUE(schedule.Next(true).has_value());
}

}  // namespace
}  // namespace bimbackup::engine
