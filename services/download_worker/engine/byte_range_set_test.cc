#include "services/download_worker/engine/byte_range_set.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::engine {
namespace {

using storage::ByteRange;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ByteRangeSetTest, JoinsNeighboursAndOverlaps) {
  ByteRangeSet set;
  set.Add({10, 20});
  set.Add({30, 40});
  set.Add({20, 30});
  EXPECT_EQ(set.EndOfRun(10), 40);
  EXPECT_EQ(set.EndOfRun(25), 40);
  set.Add({5, 50});
  EXPECT_EQ(set.EndOfRun(5), 50);
  EXPECT_THAT(set.MissingIn({0, 60}),
              ElementsAre(ByteRange{0, 5}, ByteRange{50, 60}));
}

TEST(ByteRangeSetTest, KnowsNothingOutsideItsRanges) {
  ByteRangeSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.EndOfRun(7), 7);
  set.Add({10, 20});
  set.Add({15, 15});
  EXPECT_EQ(set.EndOfRun(9), 9);
  EXPECT_EQ(set.EndOfRun(20), 20);
  EXPECT_EQ(set.EndOfRun(21), 21);
}

TEST(ByteRangeSetTest, DropsWhatLiesBefore) {
  ByteRangeSet set;
  set.Add({0, 10});
  set.Add({20, 30});
  set.DropBefore(25);
  EXPECT_THAT(set.MissingIn({0, 30}), ElementsAre(ByteRange{0, 25}));
  set.DropBefore(30);
  EXPECT_TRUE(set.empty());
}

TEST(ByteRangeSetTest, MissesNothingOfWhatIsCovered) {
  ByteRangeSet set;
  set.Add({0, 100});
  EXPECT_THAT(set.MissingIn({10, 20}), IsEmpty());
  EXPECT_THAT(set.MissingIn({10, 10}), IsEmpty());
}

}  // namespace
}  // namespace bimbackup::engine
