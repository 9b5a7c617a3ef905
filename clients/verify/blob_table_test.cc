#include "clients/verify/blob_table.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"

namespace bimbackup::verify {
namespace {

TEST(BlobTableTest, CountsTheFilesOfABlobOnce) {
  BlobTable blobs;
  const BlobDigest a = ParseDigest(Sha256Hex("a"));
  const BlobDigest b = ParseDigest(Sha256Hex("b"));
  EXPECT_TRUE(blobs.Add(a));
  EXPECT_FALSE(blobs.Add(a));
  EXPECT_TRUE(blobs.Add(b));
  EXPECT_EQ(blobs.size(), 2);
  EXPECT_EQ(blobs.Take(a), 2);
  EXPECT_EQ(blobs.Take(a), 0);
  EXPECT_EQ(blobs.Take(b), 1);
  EXPECT_EQ(blobs.Take(ParseDigest(Sha256Hex("c"))), 0);
}

TEST(BlobTableTest, LeadingBitsAreTheDigestsFirst) {
  EXPECT_EQ(LeadingBits(ParseDigest(
                "0123456789abcdef000000000000000000000000000000000000000000000"
                "000")),
            0x0123456789abcdef);
}

TEST(BlobTableTest, SharesAreEqualAndCoverEverything) {
  EXPECT_EQ(ShareOf(0, 7), 0);
  EXPECT_EQ(ShareOf(~uint64_t{0}, 7), 6);
  EXPECT_EQ(ShareOf(~uint64_t{0}, 1), 0);
  std::array<int, 4> counts{};
  for (int i = 0; i < 4000; ++i) {
    const BlobDigest digest = ParseDigest(Sha256Hex(absl::StrCat(i)));
    ++counts.at(ShareOf(LeadingBits(digest), counts.size()));
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace bimbackup::verify
