// What an answer of Autodesk's may hold at most, and what is said of more.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/answers.h"
#include "clients/bim360/aps_client_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/excerpt.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr absl::StatusCode kDataLoss = absl::StatusCode::kDataLoss;

std::string Folder(absl::string_view id, absl::string_view name) {
  return absl::StrCat(R"({"type":"folders","id":")", id,
                      R"(","attributes":{"name":")", name, R"("}})");
}

std::string Item(absl::string_view name, absl::string_view urn) {
  return absl::StrCat(
      R"({"data":[{"type":"items","id":"i","attributes":{"displayName":"i"},
       "relationships":{"tip":{"data":{"id":"v"}}}},)",
      Folder("f", "good"),
      R"(],"included":[{"type":"versions","id":"v","attributes":{"name":")",
      name, R"("},"relationships":{"storage":{"data":{"id":")", urn,
      R"("}}}}]})");
}

std::string Page(const std::string& entries) {
  return absl::StrCat(R"({"data":[)", entries, "]}");
}

std::string Repeated(const std::string& entry, int times) {
  std::string list = entry;
  for (int i = 1; i < times; ++i) absl::StrAppend(&list, ",", entry);
  return list;
}

TEST(BoundsTest, ANameThatIsTooLongCostsItsEntryAlone) {
  for (const size_t size :
       {kMaxNameBytes + 1, size_t{10 << 10}, size_t{1 << 20}}) {
    const std::string name(size, 'n');
    ASSERT_OK_AND_ASSIGN(const FolderPage page,
                         ParseFolderPage(Page(absl::StrCat(
                             Folder("f", name), ",", Folder("g", "good")))));
    ASSERT_THAT(page.folders, SizeIs(1));
    EXPECT_EQ(page.folders[0].name, "good");
    ASSERT_THAT(page.defects, SizeIs(1));
    EXPECT_THAT(page.defects[0],
                HasSubstr(absl::StrCat("field name of ", size, " bytes")));
    EXPECT_LT(page.defects[0].size(), 500);
    ASSERT_OK_AND_ASSIGN(const FolderPage items,
                         ParseFolderPage(Item(name, "")));
    EXPECT_THAT(items.items, IsEmpty());
    EXPECT_THAT(items.defects, ElementsAre(HasSubstr("limit of 4096")));
    ASSERT_OK_AND_ASSIGN(
        const ProjectPage projects,
        ParseProjects(Page(absl::StrCat(R"({"id":"b.1","attributes":{"name":")",
                                        name, R"("}})"))));
    EXPECT_THAT(projects.projects, IsEmpty());
    EXPECT_THAT(projects.defects, ElementsAre(HasSubstr("b.1")));
  }
}

TEST(BoundsTest, TheLongestNameIsTaken) {
  const std::string name(kMaxNameBytes, 'n');
  ASSERT_OK_AND_ASSIGN(const FolderPage page, ParseFolderPage(Item(name, "")));
  EXPECT_THAT(page.defects, IsEmpty());
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].name, name);
}

TEST(BoundsTest, AnIdOrUrnThatIsTooLongCostsItsEntryAlone) {
  const std::string text(kMaxIdBytes + 1, 'u');
  ASSERT_OK_AND_ASSIGN(FolderPage page, ParseFolderPage(Item("a", text)));
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_THAT(page.folders, SizeIs(1));
  EXPECT_THAT(page.defects, ElementsAre(HasSubstr("field id of 2049 bytes")));
  ASSERT_OK_AND_ASSIGN(page, ParseFolderPage(Page(Folder(text, "a"))));
  EXPECT_THAT(page.folders, IsEmpty());
  EXPECT_THAT(page.defects, ElementsAre(HasSubstr("limit of 2048")));
}

TEST(BoundsTest, APageOfTooManyEntriesIsRefused) {
  const std::string most = Repeated("1", kMaxEntries);
  EXPECT_OK(ParseFolderPage(Page(most)));
  const std::string more = most + ",1";
  EXPECT_THAT(ParseFolderPage(Page(more)),
              StatusIs(kDataLoss, AllOf(HasSubstr("data has 10001 entries"),
                                        HasSubstr("limit of 10000"))));
  EXPECT_THAT(ParseProjects(Page(more)), StatusIs(kDataLoss));
  EXPECT_THAT(ParseHubs(Page(more)), StatusIs(kDataLoss));
  EXPECT_THAT(
      ParseFolderPage(absl::StrCat(R"({"data":[],"included":[)", more, "]}")),
      StatusIs(kDataLoss, HasSubstr("included has 10001 entries")));
}

TEST(BoundsTest, ATopFolderBelowTooManyFoldersIsLeftOut) {
  std::string parents;
  for (size_t i = 0; i <= kMaxParents; ++i) {
    absl::StrAppend(&parents, i == 0 ? "" : ",", R"({"urn":"u)", i,
                    R"(","parentUrn":"u)", i + 1, R"(","title":"t"})");
  }
  ASSERT_OK_AND_ASSIGN(
      const FolderPage page,
      ParseFolderPage(Page(absl::StrCat(
          R"({"type":"folders","id":"f","attributes":{"name":"Deep",)",
          R"("extension":{"data":{"folderParents":[)", parents, "]}}}}"))));
  EXPECT_THAT(page.folders, IsEmpty());
  EXPECT_THAT(page.defects, ElementsAre(HasSubstr("more than 200 folders")));
}

TEST(BoundsTest, ANextLinkThatIsTooLongIsRefused) {
  const std::string link(kMaxUrlBytes + 1, 'x');
  for (const std::string& next : {absl::StrCat("\"", link, "\""),
                                  absl::StrCat(R"({"href":")", link, "\"}")}) {
    EXPECT_THAT(ParseFolderPage(
                    absl::StrCat(R"({"data":[],"links":{"next":)", next, "}}")),
                StatusIs(kDataLoss, HasSubstr("next link has 16385 bytes")));
  }
}

TEST(BoundsTest, ASignedAnswerOfTooManyUrlsIsRefused) {
  std::string urls;
  for (size_t i = 0; i <= kMaxSignedRanges; ++i) {
    absl::StrAppend(&urls, i == 0 ? "" : ",", "\"", i, "-", i,
                    R"(":"https://h/")");
  }
  EXPECT_THAT(ParseSignedDownload(
                  absl::StrCat(R"({"status":"chunked","urls":{)", urls, "}}")),
              StatusIs(kDataLoss, HasSubstr("more than 10000 urls")));
}

TEST(BoundsTest, ASignedUrlThatIsTooLongIsRefusedAndNotShown) {
  const std::string url =
      absl::StrCat("https://h/?sig=", std::string(kMaxUrlBytes, 's'));
  EXPECT_THAT(ParseSignedDownload(absl::StrCat(
                  R"({"status":"complete","url":")", url, R"("})")),
              StatusIs(kDataLoss, AllOf(HasSubstr("limit of 16384"),
                                        Not(HasSubstr("sss")))));
}

TEST(BoundsTest, ATokenThatIsTooLongIsRefused) {
  EXPECT_THAT(ParseToken(absl::StrCat(R"({"access_token":")",
                                      std::string(33 << 10, 't'), "\"}")),
              StatusIs(kDataLoss, Not(HasSubstr("ttt"))));
}

TEST(BoundsTest, AnErrorIsCutAtACharacter) {
  std::string reason(299, 'x');
  for (int i = 0; i < 100; ++i) reason += "\xC3\xA4";
  const std::string line =
      ParseErrorBody(absl::StrCat(R"({"reason":")", reason, "\"}"));
  EXPECT_LT(line.size(), 330);
  EXPECT_EQ(Excerpt(line, line.size()), line);
}

using BoundedCallsTest = ApsClientTest;

TEST_F(BoundedCallsTest, AnAnswerThatIsTooLongIsGivenUpAtOnce) {
  AddToken();
  int asked = 0;
  transport_.AddRule(
      [](const http::Request& r) {
        return absl::StrContains(r.url, "/contents");
      },
      [&asked](const http::Request&) {
        ++asked;
        http::FakeTransport::Answer answer;
        answer.response = {200, {}, std::string((16 << 20) + 1, ' ')};
        return answer;
      });
  EXPECT_THAT(List(), StatusIs(kDataLoss, HasSubstr("longer than 16777216")));
  EXPECT_EQ(asked, 1);
}

TEST_F(BoundedCallsTest, ATokensAnswerThatIsTooLongIsGivenUp) {
  Answer(kToken, 200, std::string(65 << 10, ' '));
  EXPECT_THAT(List(), StatusIs(kDataLoss, HasSubstr("longer than 65536")));
}

TEST_F(BoundedCallsTest, AServerThatQuotesALongTokenBringsNoneOfItIntoAnError) {
  const std::string token(1500, 't');
  Answer(kToken, 200, absl::StrCat(R"({"access_token":")", token, "\"}"));
  Answer("/contents", 400,
         absl::StrCat(R"({"developerMessage":"Bearer )", token, "\"}"));
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kInvalidArgument,
                               Not(HasSubstr("ttt"))));
}

}  // namespace
}  // namespace bimbackup::bim360
