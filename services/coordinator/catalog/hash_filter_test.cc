#include "services/coordinator/catalog/hash_filter.h"

#include "gtest/gtest.h"

namespace bimbackup::catalog {
namespace {

TEST(HashFilterTest, EmptyOneHoldsNothing) {
  const HashFilter filter;
  EXPECT_FALSE(filter.MayContain(0));
  EXPECT_FALSE(filter.MayContain(-1));
}

// Enough for some layers; near each other, as those of a project are.
TEST(HashFilterTest, HoldsAllThatWasAddedAndLittleElse) {
  constexpr int64_t kAdded = 500'000;
  constexpr int64_t kFirst = int64_t{5} << 40;
  HashFilter filter;
  for (int64_t i = 0; i < kAdded; ++i) filter.Add(kFirst + i);
  int64_t lost = 0;
  int64_t mistaken = 0;
  for (int64_t i = 0; i < kAdded; ++i) {
    if (!filter.MayContain(kFirst + i)) ++lost;
    if (filter.MayContain(kFirst + kAdded + i)) ++mistaken;
  }
  EXPECT_EQ(lost, 0);
  EXPECT_LT(mistaken, kAdded / 100);
}

}  // namespace
}  // namespace bimbackup::catalog
