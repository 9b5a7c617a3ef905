#include "services/bim360_emulator/ids.h"

#include <regex>
#include <set>

#include "gtest/gtest.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr uint64_t kKeys[] = {0,          1,          2,         12345,
                              1ULL << 40, 1ULL << 63, UINT64_MAX};

TEST(IdsTest, EveryIdentifierLeadsBackToItsKey) {
  const IdCodec ids(42);
  for (const uint64_t key : kKeys) {
    EXPECT_EQ(ids.ParseFolderId(ids.FolderId(key)), key);
    EXPECT_EQ(ids.ParseItemId(ids.ItemId(key)), key);
    EXPECT_EQ(ids.ParseObjectKey(ids.ObjectKey(key)), key);
    const auto version = ids.ParseVersionId(ids.VersionId(key, 17));
    ASSERT_TRUE(version.has_value());
    EXPECT_EQ(version->key, key);
    EXPECT_EQ(version->number, 17);
  }
}

TEST(IdsTest, LooksLikeAutodesks) {
  const IdCodec ids(42);
  EXPECT_TRUE(std::regex_match(
      ids.FolderId(5),
      std::regex("urn:adsk\\.wipprod:fs\\.folder:co\\.[-_A-Za-z0-9]{22}")));
  EXPECT_TRUE(std::regex_match(
      ids.VersionId(5, 2),
      std::regex(
          "urn:adsk\\.wipprod:fs\\.file:vf\\.[-_A-Za-z0-9]{22}\\?version=2")));
  const std::string uuid =
      "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  EXPECT_TRUE(std::regex_match(ids.ObjectKey(5), std::regex(uuid)));
  EXPECT_TRUE(std::regex_match(ids.ProjectGuid(5), std::regex(uuid)));
}

TEST(IdsTest, ForeignIdentifiersAreRefused) {
  const IdCodec ids(42);
  const IdCodec other(43);
  EXPECT_FALSE(ids.ParseFolderId(other.FolderId(1)).has_value());
  EXPECT_FALSE(ids.ParseFolderId(ids.ItemId(1)).has_value());
  EXPECT_FALSE(ids.ParseItemId("urn:adsk.wipprod:dm.lineage:x").has_value());
  EXPECT_FALSE(ids.ParseObjectKey(other.ObjectKey(1)).has_value());
  EXPECT_FALSE(ids.ParseObjectKey("").has_value());
  EXPECT_FALSE(ids.ParseVersionId("urn:adsk.wipprod:fs.file:vf.x?version=1")
                   .has_value());
}

TEST(IdsTest, LineageAndVersionDiffer) {
  const IdCodec ids(42);
  const std::string item = ids.ItemId(9);
  const std::string version = ids.VersionId(9, 1);
  EXPECT_EQ(version.find(item.substr(item.size() - 22)), std::string::npos);
}

TEST(IdsTest, KeysDoNotCollide) {
  const IdCodec ids(42);
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 10'000; ++i) seen.insert(ids.ObjectKey(i));
  EXPECT_EQ(seen.size(), 10'000);
}

TEST(IdsTest, PlainExtensions) {
  EXPECT_EQ(PlainExtension("Plan.PDF"), "pdf");
  EXPECT_EQ(PlainExtension("a.b.rvt"), "rvt");
  EXPECT_EQ(PlainExtension("none"), "");
  EXPECT_EQ(PlainExtension("trailing."), "");
  EXPECT_EQ(PlainExtension("odd.p d f"), "");
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
