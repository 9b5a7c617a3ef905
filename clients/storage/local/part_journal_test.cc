#include "clients/storage/local/part_journal.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::storage::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const ContentIdentity kIdentity = {"urn:a b", 100, "\"e 1\""};

std::string Journal() {
  return SealLine(IdentityLine(kIdentity)) + SealLine(RangeLine({50, 60})) +
         SealLine(RangeLine({0, 10})) + SealLine(RangeLine({10, 20}));
}

TEST(PartJournalTest, RangesComeBackSortedAndMerged) {
  const auto content = ParseJournal(Journal());
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(content->identity, IdentityLine(kIdentity));
  EXPECT_THAT(content->ranges,
              ElementsAre(ByteRange{0, 20}, ByteRange{50, 60}));
  EXPECT_EQ(content->valid_bytes, Journal().size());
}

TEST(PartJournalTest, AJournalCutAnywhereStillTellsWhatWasWhole) {
  const std::string whole = Journal();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto content = ParseJournal(whole.substr(0, size));
    ASSERT_TRUE(content.has_value()) << size;
    EXPECT_LE(content->valid_bytes, size);
    for (const ByteRange& range : content->ranges) {
      EXPECT_TRUE(range == (ByteRange{50, 60}) || range == (ByteRange{0, 10}));
    }
  }
}

TEST(PartJournalTest, AFlippedBitIsNoticedWhereverItIs) {
  const std::string whole = Journal();
  const auto intact = ParseJournal(whole);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 4;
    const auto content = ParseJournal(damaged);
    // Either worthless, or without the line that is damaged.
    if (content.has_value()) {
      EXPECT_THAT(content->ranges, Not(testing::Eq(intact->ranges))) << i;
    }
  }
}

TEST(PartJournalTest, ZerosOfACrashedFileSystemAreATornTail) {
  const auto content = ParseJournal(Journal() + std::string(512, '\0'));
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ(content->ranges.size(), 2);
}

TEST(PartJournalTest, NonsenseIsRefused) {
  EXPECT_FALSE(ParseJournal("x\ny\n").has_value());
  EXPECT_FALSE(
      ParseJournal(SealLine(RangeLine({0, 1})) + SealLine(RangeLine({1, 2})))
          .has_value());
  for (const char* line : {"range 5 5", "range -1 5", "range 1", "range a b"}) {
    EXPECT_FALSE(ParseJournal(SealLine(IdentityLine(kIdentity)) +
                              SealLine(line) + SealLine(RangeLine({0, 1})))
                     .has_value())
        << line;
  }
  EXPECT_THAT(ParseJournal("")->ranges, IsEmpty());
}

TEST(PartJournalTest, TheIdentityTellsUrnSizeAndETagApart) {
  const std::string line = IdentityLine(kIdentity);
  EXPECT_NE(line, IdentityLine({"urn:b", 100, "\"e 1\""}));
  EXPECT_NE(line, IdentityLine({"urn:a b", 101, "\"e 1\""}));
  EXPECT_NE(line, IdentityLine({"urn:a b", 100, "\"e 2\""}));
  EXPECT_EQ(IdentityLine({"urn:a b", std::nullopt, "e"}), "");
  EXPECT_EQ(IdentityLine({"urn:a b", 100, ""}), "");
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace bimbackup::storage::local
