#include "services/common/random.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup {
namespace {

TEST(RandomTest, TheSameSeedGivesTheSameSequence) {
  SeededRandom a(7);
  SeededRandom b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next(), b.Next());
}

TEST(RandomTest, UuidsAreVersionFourAndDistinct) {
  SeededRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = random.NextUuid();
    ASSERT_THAT(uuid,
                testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                                      "[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(uuid).second);
  }
}

}  // namespace
}  // namespace bimbackup
