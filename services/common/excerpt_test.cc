#include "services/common/excerpt.h"

#include <string>

#include "gtest/gtest.h"

namespace bimbackup {
namespace {

TEST(ExcerptTest, LeavesShortTextAsItIs) {
  EXPECT_EQ(Excerpt(""), "");
  EXPECT_EQ(Excerpt("Pläne 建築 😀.pdf"), "Pläne 建築 😀.pdf");
}

TEST(ExcerptTest, ReplacesWhatWouldBreakALine) {
  EXPECT_EQ(Excerpt("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(Excerpt(std::string("a\0b", 3)), "a b");
}

TEST(ExcerptTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Excerpt("a\xff"), "a?");
  EXPECT_EQ(Excerpt("\xc0\x80"), "??");
  EXPECT_EQ(Excerpt("\xed\xa0\x80"), "???");
  EXPECT_EQ(Excerpt("\xf4\x90\x80\x80"), "????");
  EXPECT_EQ(Excerpt("\xe4\xbd"), "??");
}

TEST(ExcerptTest, CutsAtACharacterAndSaysHowLongItWas) {
  EXPECT_EQ(Excerpt(std::string(10'240, 'x'), 3), "xxx... (10240 bytes)");
  EXPECT_EQ(Excerpt("ab建築", 4), "ab... (8 bytes)");
  EXPECT_EQ(Excerpt("ab建", 5), "ab建");
}

}  // namespace
}  // namespace bimbackup
