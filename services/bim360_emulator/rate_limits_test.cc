#include "services/bim360_emulator/rate_limits.h"

#include "gtest/gtest.h"
#include "services/common/fake_clock.h"

namespace bimbackup::bim360_emulator {
namespace {

TEST(RateLimitsTest, TheMinuteSlides) {
  FakeClock clock;
  RateLimits limits(true, 1, clock);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(limits.Admit(Endpoint::kProjects).has_value());
    clock.Advance(absl::Seconds(1));
  }
  EXPECT_EQ(limits.Admit(Endpoint::kProjects), absl::Seconds(10));
  clock.Advance(absl::Seconds(10));
  EXPECT_FALSE(limits.Admit(Endpoint::kProjects).has_value());
  EXPECT_TRUE(limits.Admit(Endpoint::kProjects).has_value());
}

TEST(RateLimitsTest, ClassesDoNotShareExceptThoseOfObjectStorage) {
  FakeClock clock;
  RateLimits limits(true, 1, clock);
  for (int i = 0; i < 50; ++i) limits.Admit(Endpoint::kHubs);
  EXPECT_TRUE(limits.Admit(Endpoint::kHubs).has_value());
  EXPECT_FALSE(limits.Admit(Endpoint::kProjects).has_value());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(
        limits.Admit(i % 2 == 0 ? Endpoint::kSign : Endpoint::kDetails));
  }
  EXPECT_TRUE(limits.Admit(Endpoint::kBatchSign).has_value());
  EXPECT_FALSE(limits.Admit(Endpoint::kStorage).has_value());
}

TEST(RateLimitsTest, TimeScaleShortensTheMinute) {
  FakeClock clock;
  RateLimits limits(true, 60, clock);
  for (int i = 0; i < 300; ++i) {
    EXPECT_FALSE(limits.Admit(Endpoint::kContents).has_value());
  }
  EXPECT_EQ(limits.Admit(Endpoint::kContents), absl::Seconds(1));
  clock.Advance(absl::Seconds(1));
  EXPECT_FALSE(limits.Admit(Endpoint::kContents).has_value());
}

TEST(RateLimitsTest, PeakIsThatOfAnySlidingMinute) {
  FakeClock clock;
  RateLimits limits(false, 1, clock);
  for (int i = 0; i < 400; ++i) {
    EXPECT_FALSE(limits.Admit(Endpoint::kContents).has_value());
  }
  clock.Advance(absl::Seconds(61));
  for (int i = 0; i < 10; ++i) limits.Admit(Endpoint::kContents);
  const RateLimits::Counts counts = limits.Read(Endpoint::kContents);
  EXPECT_EQ(counts.requests, 410);
  EXPECT_EQ(counts.refused, 0);
  EXPECT_EQ(counts.peak_per_minute, 400);
}

TEST(RateLimitsTest, RefusedRequestsCountInThePeakButFillNoPlace) {
  FakeClock clock;
  RateLimits limits(true, 1, clock);
  for (int i = 0; i < 60; ++i) limits.Admit(Endpoint::kHubs);
  const RateLimits::Counts counts = limits.Read(Endpoint::kHubs);
  EXPECT_EQ(counts.refused, 10);
  EXPECT_EQ(counts.peak_per_minute, 60);
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
