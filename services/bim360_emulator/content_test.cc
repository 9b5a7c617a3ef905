#include "services/bim360_emulator/content.h"

#include <unistd.h>

#include <fstream>
#include <set>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

std::string ReadAll(const Content& content, int64_t from, size_t count) {
  std::string bytes(count, '\0');
  EXPECT_TRUE(content.Read(from, bytes.data(), count));
  return bytes;
}

TEST(ContentTest, AnyRangeOfGeneratedBytesEqualsThatOfTheWhole) {
  const auto content = GeneratedContent(7, 1000);
  const std::string whole = ReadAll(*content, 0, 1000);
  for (const int64_t from : {0, 1, 7, 8, 9, 500, 993, 999}) {
    for (const int64_t count : {1, 3, 8, 17, 200}) {
      if (from + count > 1000) continue;
      EXPECT_EQ(ReadAll(*content, from, count), whole.substr(from, count))
          << from << " " << count;
    }
  }
}

TEST(ContentTest, GeneratedBytesRepeatNowhere) {
  const std::string bytes = ReadAll(*GeneratedContent(7, 1 << 20), 0, 1 << 20);
  std::set<std::string> words;
  for (size_t i = 0; i < bytes.size(); i += 8) words.insert(bytes.substr(i, 8));
  EXPECT_EQ(words.size(), bytes.size() / 8);
}

TEST(ContentTest, SeedsDifferAndAreStable) {
  EXPECT_NE(ReadAll(*GeneratedContent(1, 64), 0, 64),
            ReadAll(*GeneratedContent(2, 64), 0, 64));
  EXPECT_EQ(ReadAll(*GeneratedContent(1, 64), 0, 64),
            ReadAll(*GeneratedContent(1, 128), 0, 64));
}

TEST(ContentTest, SparseBytesAreZerosBehindTheHead) {
  const int64_t size = int64_t{5} << 30;
  const auto content = SparseContent(7, size);
  EXPECT_EQ(content->size(), size);
  const std::string edge = ReadAll(*content, (64 << 10) - 8, 16);
  EXPECT_NE(edge.substr(0, 8), std::string(8, '\0'));
  EXPECT_EQ(edge.substr(8), std::string(8, '\0'));
  EXPECT_EQ(ReadAll(*content, size - 10, 10), std::string(10, '\0'));
}

TEST(ContentTest, DigestsAreTrue) {
  EXPECT_EQ(ContentDigest(*LiteralContent("abc"), DigestKind::kSha1),
            "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(ContentDigest(*LiteralContent(""), DigestKind::kSha1),
            "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  const auto large = GeneratedContent(3, 300'001);
  Digest digest(DigestKind::kSha256);
  digest.Update(ReadAll(*large, 0, 300'001));
  EXPECT_EQ(ContentDigest(*large, DigestKind::kSha256), digest.FinishHex());
}

TEST(ContentTest, DiskContentIsTheFileAndFollowsNoLink) {
  const std::string path = testing::TempDir() + "content_test_file";
  const std::string link = path + "_link";
  std::ofstream(path) << "on disk";
  unlink(link.c_str());
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_OK_AND_ASSIGN(const auto content, DiskContent(path));
  EXPECT_EQ(ReadAll(*content, 3, 4), "disk");
  EXPECT_THAT(DiskContent(link),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(DiskContent("/no/such/file"),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(DiskContent("/dev/null"),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
