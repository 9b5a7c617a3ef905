#include "services/common/backoff.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup {
namespace {

class HighestRandom : public Random {
 public:
  uint64_t Next() override { return ~0ULL; }
};

TEST(BackoffTest, CeilingDoublesUntilTheMaximum) {
  HighestRandom random;
  const Backoff backoff{.initial = absl::Seconds(1),
                        .maximum = absl::Seconds(5)};
  EXPECT_NEAR(absl::ToDoubleSeconds(backoff.Delay(1, random)), 1, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(backoff.Delay(2, random)), 2, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(backoff.Delay(3, random)), 4, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(backoff.Delay(4, random)), 5, 1e-6);
  EXPECT_NEAR(absl::ToDoubleSeconds(backoff.Delay(1000, random)), 5, 1e-6);
}

TEST(BackoffTest, JitterCoversTheWholeRange) {
  SeededRandom random(1);
  const Backoff backoff{.initial = absl::Seconds(1),
                        .maximum = absl::Seconds(1)};
  absl::Duration lowest = absl::InfiniteDuration();
  absl::Duration highest = absl::ZeroDuration();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration delay = backoff.Delay(1, random);
    lowest = std::min(lowest, delay);
    highest = std::max(highest, delay);
  }
  EXPECT_LT(lowest, absl::Milliseconds(50));
  EXPECT_GT(highest, absl::Milliseconds(950));
  EXPECT_LT(highest, absl::Seconds(1));
}

}  // namespace
}  // namespace bimbackup
