#include "clients/storage/format/stored_name.h"

#include <algorithm>
#include <random>
#include <set>

#include "clients/storage/format/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::storage::format {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const NameOptions kPlain = {255, false};

TEST(EscapeNameTest, OrdinaryNamesStayAsTheyAre) {
  for (const char* name :
       {"plan.dwg", "50% CD.pdf", "100%", "%", "%%", "%zz", "a b", " a",
        ".hidden", "a..b", "Grundriß EG.rvt", "図面.pdf", "🏗️.txt",
        "CONTROL", "COM", "COM10.txt", "a~b", "con-a"}) {
    EXPECT_EQ(EscapeName(name, {}), name);
  }
}

TEST(EscapeNameTest, WhatAFileSystemCannotHoldIsEscaped) {
  EXPECT_EQ(EscapeName("A/B", {}), "A%2FB");
  EXPECT_EQ(EscapeName(std::string("a\0b", 3), {}), "a%00b");
  EXPECT_EQ(EscapeName("a\nb\x7f", {}), "a%0Ab%7F");
  EXPECT_EQ(EscapeName(".", {}), "%2E");
  EXPECT_EQ(EscapeName("..", {}), ".%2E");
  EXPECT_EQ(EscapeName("a.", {}), "a%2E");
  EXPECT_EQ(EscapeName("a ", {}), "a%20");
  EXPECT_EQ(EscapeName("50%25 CD.pdf", {}), "50%2525 CD.pdf");
  EXPECT_EQ(EscapeName("a\xff\xc3", {}), "a%FF%C3");
  EXPECT_EQ(EscapeName("\xed\xa0\x80", {}), "%ED%A0%80");
  EXPECT_NE(EscapeName("", {}), "");
}

TEST(EscapeNameTest, WindowsReservesMore) {
  EXPECT_EQ(EscapeName("A:B?\"<>|*\\", {}), "A%3AB%3F%22%3C%3E%7C%2A%5C");
  EXPECT_EQ(EscapeName("CON", {}), "%43ON");
  EXPECT_EQ(EscapeName("con.txt", {}), "%63on.txt");
  EXPECT_EQ(EscapeName("Lpt9 .tar.gz", {}), "%4Cpt9 .tar.gz");
  EXPECT_EQ(EscapeName("COM\u00B2", {}), "%43OM\u00B2");
  EXPECT_EQ(EscapeName("A:B?\"<>|*\\", kPlain), "A:B?\"<>|*\\");
  EXPECT_EQ(EscapeName("CON", kPlain), "CON");
  EXPECT_EQ(EscapeName("a.", kPlain), "a%2E");
}

TEST(EscapeNameTest, LongNamesAreCutAtACharacterAndKeepTheirExtension) {
  std::string name;
  while (name.size() < 300) name += "ä";
  const std::string cut = EscapeName(name + ".dwg", {});
  EXPECT_LE(cut.size(), 255);
  EXPECT_GE(cut.size(), 253);
  EXPECT_THAT(cut, MatchesRegex("(ä)+~[0-9a-f]{8}\\.dwg"));
  EXPECT_NE(cut, EscapeName(name + "ä.dwg", {}));
  EXPECT_LE(EscapeName(name, {143, true}).size(), 143);
  // What is long behind the last dot is no extension.
  EXPECT_THAT(EscapeName("a." + name, {}), MatchesRegex("a\\..*~[0-9a-f]{8}"));
}

TEST(EscapeNameTest, NoCutFallsIntoAnEscape) {
  for (int size = 230; size < 260; ++size) {
    const std::string cut =
        EscapeName(std::string(size, 'x') + std::string(40, ':'), {});
    EXPECT_THAT(cut, MatchesRegex("x+(%3A)*~[0-9a-f]{8}"));
    EXPECT_LE(cut.size(), 255);
  }
}

// Names from pieces that are apt to be taken for one another.
std::string RandomName(std::mt19937& random) {
  static const std::vector<std::string> pieces = {
      "a",    "A",    "b",   "%",    "2",
      "5",    "F",    "%25", "/",    ":",
      ".",    " ",    "CON", "ä",    "a\u0308",
      "\xff", "\xc3", "\n",  "🏗", std::string(1, '\0'),
      "~",    "com1", "\\",  "%2F",  "..",
      "ß",    "ss"};
  std::string name;
  for (int count = 1 + random() % 6; count > 0; --count) {
    name += pieces[random() % pieces.size()];
  }
  return name;
}

TEST(EscapeNameTest, UnescapingGivesBackEveryName) {
  std::mt19937 random(20260131);
  for (int i = 0; i < 20000; ++i) {
    const std::string name = RandomName(random);
    for (const NameOptions& options : {NameOptions(), kPlain}) {
      const std::string stored = EscapeName(name, options);
      ASSERT_EQ(UnescapeName(stored), name);
      ASSERT_EQ(stored.find('/'), std::string::npos);
      ASSERT_EQ(stored.find('\0'), std::string::npos);
      ASSERT_NE(stored, ".");
      ASSERT_NE(stored, "..");
      ASSERT_EQ(CutUtf8(stored, stored.size()), stored);
    }
  }
}

TEST(AssignStoredNamesTest, DistinctNamesGetNoSuffix) {
  EXPECT_THAT(AssignStoredNames({{"A/B", "1"},
                                 {"A:B", "2"},
                                 {"50% CD.pdf", "3"},
                                 {"50%25 CD.pdf", "4"}},
                                {}),
              ElementsAre("A%2FB", "A%3AB", "50% CD.pdf", "50%2525 CD.pdf"));
}

TEST(AssignStoredNamesTest, TwinsGetASuffixFromTheirId) {
  const std::vector<std::string> names = AssignStoredNames(
      {{"Plan.dwg", "b"}, {"plan.dwg", "a"}, {"PLAN.DWG", "c"}}, {});
  EXPECT_EQ(names[1], "plan.dwg");
  EXPECT_THAT(names[0], MatchesRegex("Plan~[0-9a-f]{8}\\.dwg"));
  EXPECT_THAT(names[2], MatchesRegex("PLAN~[0-9a-f]{8}\\.DWG"));
  EXPECT_NE(FoldName(names[0]), FoldName(names[2]));
}

TEST(AssignStoredNamesTest, TheSameNameInNfcAndNfdIsATwin) {
  const std::vector<std::string> names =
      AssignStoredNames({{"\u00e4.txt", "a"}, {"a\u0308.txt", "b"}}, {});
  EXPECT_EQ(names[0], "\u00e4.txt");
  EXPECT_THAT(names[1], StartsWith("a\u0308~"));
}

TEST(AssignStoredNamesTest, LongTwinsStayWithinTheLimit) {
  const std::string name = std::string(251, 'x') + ".dwg";
  const std::vector<std::string> names =
      AssignStoredNames({{name, "a"}, {name, "b"}}, {});
  EXPECT_EQ(names[0], name);
  EXPECT_EQ(names[1].size(), 255);
  EXPECT_THAT(names[1], EndsWith(".dwg"));
}

TEST(AssignStoredNamesTest, ASuffixTakesNobodysOwnName) {
  const std::string suffixed =
      AssignStoredNames({{"a", "1"}, {"a", "2"}}, {})[1];
  // Somebody has called a file just that, with the greatest of ids.
  const std::vector<std::string> names =
      AssignStoredNames({{"a", "1"}, {"a", "2"}, {suffixed, "9"}}, {});
  EXPECT_EQ(names[0], "a");
  EXPECT_EQ(names[2], suffixed);
  EXPECT_NE(names[1], suffixed);
}

TEST(AssignStoredNamesTest, ChildrenThatAreTheSameInAllStillGetTwoNames) {
  const std::vector<std::string> names =
      AssignStoredNames(std::vector<NamedChild>(10, NamedChild{"a", "1"}), {});
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 10);
}

TEST(AssignStoredNamesTest, NamesDependOnTheSetAloneAndAreDistinct) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    std::vector<NamedChild> children;
    for (int i = 0; i < 60; ++i) {
      children.push_back({RandomName(random), "id" + std::to_string(i)});
    }
    const std::vector<std::string> names = AssignStoredNames(children, {});
    std::set<std::string> folded;
    for (const std::string& name : names) folded.insert(FoldName(name));
    ASSERT_EQ(folded.size(), names.size());

    std::vector<size_t> order(children.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<NamedChild> shuffled;
    for (size_t i : order) shuffled.push_back(children[i]);
    const std::vector<std::string> again = AssignStoredNames(shuffled, {});
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(again[i], names[order[i]]);
    }
  }
}

}  // namespace
}  // namespace bimbackup::storage::format
