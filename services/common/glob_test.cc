#include "services/common/glob.h"

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup {
namespace {

std::vector<std::string> Path(const std::string& text) {
  return absl::StrSplit(text, '/', absl::SkipEmpty());
}

bool Matches(const std::string& pattern, const std::string& path) {
  absl::StatusOr<Glob> glob = Glob::Parse(pattern);
  EXPECT_OK(glob);
  return glob.ok() && glob->Matches(Path(path));
}

TEST(GlobTest, MatchesWithinAComponent) {
  EXPECT_TRUE(Matches("Tower/*.pdf", "Tower/A700.pdf"));
  EXPECT_TRUE(Matches("Tower/*", "Tower/A700.pdf"));
  EXPECT_TRUE(Matches("T*w*r", "Tower"));
  EXPECT_TRUE(Matches("*a*a*b", "aaaab"));
  EXPECT_TRUE(Matches("A?00.pdf", "A700.pdf"));
  EXPECT_FALSE(Matches("A?00.pdf", "A00.pdf"));
  EXPECT_FALSE(Matches("Tower/*.pdf", "Tower/Plans/A700.pdf"));
  EXPECT_FALSE(Matches("tower", "Tower"));
}

TEST(GlobTest, TakesAWholeCharacterForAQuestionMark) {
  EXPECT_TRUE(Matches("?.pdf", "\xc3\xa4.pdf"));
  EXPECT_TRUE(Matches("[\xc3\xa4-\xc3\xbc]", "\xc3\xb6"));
  EXPECT_TRUE(Matches("?", "\xff"));
  EXPECT_FALSE(Matches("??", "\xc3\xa4"));
}

TEST(GlobTest, MatchesAnyDepth) {
  EXPECT_TRUE(Matches("**/*.pdf", "a.pdf"));
  EXPECT_TRUE(Matches("**/*.pdf", "Tower/Plans/a.pdf"));
  EXPECT_TRUE(Matches("Tower/**", "Tower"));
  EXPECT_TRUE(Matches("Tower/**", "Tower/Plans/a.pdf"));
  EXPECT_TRUE(Matches("Tower/**/Old/**", "Tower/x/y/Old/z"));
  EXPECT_FALSE(Matches("Tower/**/Old/*", "Tower/x/y/z"));
  EXPECT_FALSE(Matches("Tower/**", "Bridge/a"));
}

TEST(GlobTest, MatchesSets) {
  EXPECT_TRUE(Matches("[a-c]x", "bx"));
  EXPECT_FALSE(Matches("[a-c]x", "dx"));
  EXPECT_TRUE(Matches("[!a-c]x", "dx"));
  EXPECT_TRUE(Matches("[^a-c]x", "dx"));
  EXPECT_TRUE(Matches("[a-]", "-"));
  EXPECT_TRUE(Matches("[\\]]", "]"));
  EXPECT_TRUE(Matches("*[0-9].rvt", "model7.rvt"));
}

TEST(GlobTest, TakesEscapedCharactersLiterally) {
  EXPECT_TRUE(Matches("\\*.pdf", "*.pdf"));
  EXPECT_FALSE(Matches("\\*.pdf", "a.pdf"));
  EXPECT_TRUE(Matches("a\\[b", "a[b"));
}

TEST(GlobTest, SaysWhatIsMalformed) {
  for (const char* pattern : {"", "/", "a//b", "a/", "[", "[a", "[]", "[b-a]",
                              "a**", "**b/c", "a\\", "[a\\"}) {
    EXPECT_THAT(Glob::Parse(pattern),
                absl_testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                       testing::HasSubstr("malformed")))
        << pattern;
  }
}

TEST(GlobTest, KnowsWhetherSomethingBelowCouldMatch) {
  ASSERT_OK_AND_ASSIGN(const Glob glob, Glob::Parse("Tower/Plans/*.pdf"));
  EXPECT_TRUE(glob.MatchesBelow({}));
  EXPECT_TRUE(glob.MatchesBelow({"Tower"}));
  EXPECT_TRUE(glob.MatchesBelow({"Tower", "Plans"}));
  EXPECT_FALSE(glob.MatchesBelow({"Tower", "Models"}));
  EXPECT_FALSE(glob.MatchesBelow({"Tower", "Plans", "a.pdf"}));
  ASSERT_OK_AND_ASSIGN(const Glob deep, Glob::Parse("Tower/**/x"));
  EXPECT_TRUE(deep.MatchesBelow({"Tower", "a", "b", "c"}));
}

TEST(GlobTest, RefusesAPatternThatIsTooLong) {
  EXPECT_OK(Glob::Parse(std::string(1024, 'x')));
  EXPECT_THAT(Glob::Parse(std::string(1 << 20, 'x')),
              absl_testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                     testing::HasSubstr("limit of 1024")));
}

TEST(GlobTest, KnowsWhetherEverythingBelowMatches) {
  ASSERT_OK_AND_ASSIGN(const Glob glob, Glob::Parse("Tower/Plans/**"));
  EXPECT_FALSE(glob.MatchesAllBelow({"Tower"}));
  EXPECT_TRUE(glob.MatchesAllBelow({"Tower", "Plans"}));
  EXPECT_TRUE(glob.MatchesAllBelow({"Tower", "Plans", "Old"}));
  EXPECT_FALSE(glob.MatchesAllBelow({"Tower", "Models"}));
}

}  // namespace
}  // namespace bimbackup
