#include "services/coordinator/retention/digest_set.h"

#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::retention {
namespace {

using absl_testing::StatusIs;

// All buckets, as text, in their order.
std::vector<std::string> ReadAll(DigestSet& set) {
  std::vector<std::string> all;
  for (int bucket = 0; bucket < DigestSet::kBuckets; ++bucket) {
    const auto digests = set.ReadBucket(bucket);
    EXPECT_OK(digests);
    for (const BinaryDigest& digest : *digests) all.push_back(ToHex(digest));
  }
  return all;
}

TEST(DigestSetTest, HoldsEachOnceWhetherSpilledOrNot) {
  for (const size_t in_memory : {10, 64, 1000000}) {
    const storage::TempFolder folder;
    DigestSet set(folder.path(), in_memory);
    std::set<std::string> expected;
    for (int i = 0; i < 3000; ++i) {
      // Neighbours, and ones that come again much later.
      const std::string digest = Sha256Hex(absl::StrCat(i % 1000 / 2));
      expected.insert(digest);
      ASSERT_OK(set.Add(digest));
    }
    const std::vector<std::string> sorted(expected.begin(), expected.end());
    EXPECT_EQ(ReadAll(set), sorted) << in_memory << " in memory";
  }
}

TEST(DigestSetTest, TakesMoreAfterItWasRead) {
  const storage::TempFolder folder;
  DigestSet set(folder.path(), 2);
  for (const char* text : {"a", "b", "c", "d", "e"}) {
    ASSERT_OK(set.Add(Sha256Hex(text)));
  }
  EXPECT_EQ(ReadAll(set).size(), 5);
  ASSERT_OK(set.Add(Sha256Hex("f")));
  EXPECT_EQ(ReadAll(set).size(), 6);
}

TEST(DigestSetTest, SaysWhenItCannotSpill) {
  const storage::TempFolder folder;
  DigestSet set(folder / "none", 1);
  ASSERT_OK(set.Add(Sha256Hex("a")));
  EXPECT_THAT(set.Add(Sha256Hex("b")),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace bimbackup::retention
