#include "services/coordinator/lease/batch.h"

#include "gtest/gtest.h"

namespace bimbackup::lease {
namespace {

TEST(BatchFilesTest, IsBoundedByThirtyTwoAndByFreeSlots) {
  EXPECT_EQ(BatchFiles(10'000, 2, 100), 32);
  EXPECT_EQ(BatchFiles(10'000, 2, 5), 5);
  EXPECT_EQ(BatchFiles(10'000, 2, 0), 0);
}

TEST(BatchFilesTest, SharesWhatRemains) {
  EXPECT_EQ(BatchFiles(100, 4, 100), 13);
  EXPECT_EQ(BatchFiles(8, 4, 100), 1);
  EXPECT_EQ(BatchFiles(3, 4, 100), 1);
}

TEST(BatchFilesTest, CountsNoWorkerAsOne) {
  EXPECT_EQ(BatchFiles(10, 0, 100), 5);
}

TEST(BatchBuilderTest, TakesUpToTwoGibibytes) {
  BatchBuilder batch(32);
  EXPECT_TRUE(batch.Take(int64_t{1} << 30));
  EXPECT_TRUE(batch.Take((int64_t{1} << 30) - 1));
  EXPECT_FALSE(batch.Take(2));
  EXPECT_TRUE(batch.Take(1));
  EXPECT_TRUE(batch.full());
}

TEST(BatchBuilderTest, TakesOneHugeFileAlone) {
  BatchBuilder batch(32);
  EXPECT_TRUE(batch.Take(int64_t{50} << 30));
  EXPECT_TRUE(batch.full());
  EXPECT_FALSE(batch.Take(1));
}

TEST(BatchBuilderTest, CountsAnUnknownSize) {
  BatchBuilder batch(32);
  int taken = 0;
  while (batch.Take(std::nullopt)) ++taken;
  EXPECT_EQ(taken, 8);
}

}  // namespace
}  // namespace bimbackup::lease
