#include "clients/bim360/answers.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::StatusCode kDataLoss = absl::StatusCode::kDataLoss;

constexpr char kContents[] = R"({
 "jsonapi": {"version": "1.0"},
 "links": {"self": {"href": "/self"},
           "next": {"href": "/data/v1/next?page%5Bnumber%5D=1"}},
 "data": [
  {"type": "folders", "id": "urn:adsk.wipprod:fs.folder:co.x",
   "attributes": {
     "name": "Plans \u00e4", "hidden": false, "objectCount": 4,
     "createUserName": "",
     "lastModifiedTimeRollup": "2022-05-06T08:27:50.0000000Z",
     "extension": {"type": "folders:autodesk.bim360:Folder",
                   "data": {"folderType": "plan", "actions": ["a"]}}}},
  {"type": "items", "id": "urn:adsk.wipprod:dm.lineage:y",
   "attributes": {"displayName": "A700", "hidden": false,
     "extension": {"type": "items:autodesk.bim360:File"}},
   "relationships": {"tip": {"data": {
     "type": "versions", "id": "urn:adsk.wipprod:fs.file:vf.z?version=2"}}}}],
 "included": [
  {"type": "versions", "id": "urn:adsk.wipprod:fs.file:vf.other?version=9"},
  {"type": "versions", "id": "urn:adsk.wipprod:fs.file:vf.z?version=2",
   "attributes": {"name": "A700.pdf", "versionNumber": 2,
     "storageSize": 322126, "lastModifiedTime": "2022-05-06T08:27:50.0000000Z",
     "extension": {"type": "versions:autodesk.bim360:File", "data": "odd"}},
   "relationships": {
     "item": {"data": {"id": "urn:adsk.wipprod:dm.lineage:somebody-else"}},
     "storage": {"data": {"type": "objects",
       "id": "urn:adsk.objects:os.object:wip.dm.prod/300e.pdf"}}}}]})";

std::string With(absl::string_view from, absl::string_view to) {
  return absl::StrReplaceAll(kContents, {{from, to}});
}

TEST(ParseFolderPageTest, ReadsFoldersAndItemsWithTheirTips) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page, ParseFolderPage(kContents));
  EXPECT_THAT(page.defects, IsEmpty());
  EXPECT_EQ(page.next_page_url, "/data/v1/next?page%5Bnumber%5D=1");
  ASSERT_EQ(page.folders.size(), 1);
  EXPECT_EQ(page.folders[0].id, "urn:adsk.wipprod:fs.folder:co.x");
  EXPECT_EQ(page.folders[0].name, "Plans \xC3\xA4");
  EXPECT_EQ(page.folders[0].rollup, "2022-05-06T08:27:50.0000000Z");
  EXPECT_EQ(page.folders[0].folder_type, "plan");
  ASSERT_EQ(page.items.size(), 1);
  const Item& item = page.items[0];
  EXPECT_EQ(item.item_id, "urn:adsk.wipprod:dm.lineage:y");
  EXPECT_EQ(item.name, "A700.pdf");
  EXPECT_EQ(item.item_type, "items:autodesk.bim360:File");
  EXPECT_EQ(item.version_id, "urn:adsk.wipprod:fs.file:vf.z?version=2");
  EXPECT_EQ(item.version_number, 2);
  EXPECT_EQ(item.version_type, "versions:autodesk.bim360:File");
  EXPECT_EQ(item.size, 322126);
  EXPECT_EQ(item.storage_urn,
            "urn:adsk.objects:os.object:wip.dm.prod/300e.pdf");
  EXPECT_EQ(item.last_modified, absl::FromUnixSeconds(1651825670));
}

TEST(ParseFolderPageTest, AnEmptyFolderHasNoIncludedAndNoNext) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page,
                       ParseFolderPage(R"({"links":{},"data":[]})"));
  EXPECT_THAT(page.folders, IsEmpty());
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.next_page_url, "");
}

TEST(ParseFolderPageTest, ATipThatIsMissingIsADefectOfThatEntryOnly) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page,
                       ParseFolderPage(With("\"included\"", "\"other\"")));
  EXPECT_EQ(page.folders.size(), 1);
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_THAT(page.defects, ElementsAre(HasSubstr("dm.lineage:y")));
}

TEST(ParseFolderPageTest, AnItemWithoutATipIsListed) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page,
                       ParseFolderPage(With("\"tip\"", "\"other\"")));
  EXPECT_THAT(page.defects, IsEmpty());
  ASSERT_EQ(page.items.size(), 1);
  EXPECT_EQ(page.items[0].version_id, "");
  EXPECT_EQ(page.items[0].name, "A700");
}

TEST(ParseFolderPageTest, TakesVersionsWithoutSizeOrStorage) {
  ASSERT_OK_AND_ASSIGN(
      FolderPage page,
      ParseFolderPage(absl::StrReplaceAll(
          kContents, {{"storageSize", "other"}, {"\"storage\"", "\"o\""}})));
  EXPECT_THAT(page.defects, IsEmpty());
  EXPECT_FALSE(page.items[0].size);
  EXPECT_EQ(page.items[0].storage_urn, "");
  ASSERT_OK_AND_ASSIGN(page, ParseFolderPage(With("322126", "null")));
  EXPECT_THAT(page.defects, IsEmpty());
}

TEST(ParseFolderPageTest, AnImpossibleSizeIsUnknownAndNamed) {
  for (const char* size :
       {"9223372036854775808", "-1", "1.5", "\"x\"", "99999999999999999999"}) {
    const auto page = ParseFolderPage(With("322126", size));
    // What is no number of JSON's at all costs the page.
    if (!page.ok()) {
      EXPECT_THAT(page, StatusIs(kDataLoss)) << size;
      continue;
    }
    ASSERT_EQ(page->items.size(), 1) << size;
    EXPECT_FALSE(page->items[0].size) << size;
    EXPECT_THAT(page->defects, ElementsAre(HasSubstr("storageSize"))) << size;
  }
}

TEST(ParseFolderPageTest, NamesEntriesWithoutIdNameOrType) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page, ParseFolderPage(R"({"data":[
        {"type":"folders","attributes":{"name":"no id"}},
        {"type":"folders","id":"no-name"},
        {"type":"items","id":7,"attributes":{"displayName":"odd id"}},
        {"type":"links","id":"new-kind"}, 17, null,
        {"type":"folders","id":"good","attributes":{"displayName":"Good"}}
      ]})"));
  ASSERT_EQ(page.folders.size(), 1);
  EXPECT_EQ(page.folders[0].name, "Good");
  EXPECT_EQ(page.defects.size(), 6);
}

TEST(ParseFolderPageTest, RefusesWhatIsNoListing) {
  std::string deep = R"({"data":[],"deep":)";
  for (int i = 0; i < 100; ++i) deep += "[";
  for (int i = 0; i < 100; ++i) deep += "]";
  deep += "}";
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("[]"),
        std::string("<html>"), std::string(R"({"data":{}})"),
        std::string(R"({"data":[],"links":{"next":7}})"),
        std::string(R"({"data":[],"links":{"next":{"href":7}}})"),
        std::string("{\"data\":[\"\xFF\"]}"), deep}) {
    EXPECT_THAT(ParseFolderPage(json), StatusIs(kDataLoss)) << json;
  }
}

TEST(ParseFolderPageTest, TakesEveryFormOfANextLink) {
  const auto next = [](absl::string_view link) {
    return ParseFolderPage(
               absl::StrCat(R"({"data":[],"links":{"next":)", link, "}}"))
        ->next_page_url;
  };
  EXPECT_EQ(next(R"({"href":"https://a/b"})"), "https://a/b");
  EXPECT_EQ(next(R"("/b")"), "/b");
  EXPECT_EQ(next("null"), "");
  EXPECT_EQ(next(R"({"href":null})"), "");
}

TEST(ParseFolderPageTest, TakesLoneSurrogatesAndEmoji) {
  const auto name = [](absl::string_view escaped) {
    return ParseFolderPage(
               absl::StrCat(R"({"data":[{"type":"folders","id":"f",)",
                            R"("attributes":{"name":")", escaped, "\"}}]}"))
        ->folders[0]
        .name;
  };
  EXPECT_EQ(name(R"(\ud83d\ude00)"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(name(R"(a\ud83db)"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(name(R"(\ude00\ud83d\ude00)"), "\xEF\xBF\xBD\xF0\x9F\x98\x80");
  EXPECT_EQ(name(R"(\\ud83d)"), "\\ud83d");
  EXPECT_EQ(name(".."), "..");
}

TEST(ParseFolderPageTest, BuildsThePathOfADeepTopFolder) {
  ASSERT_OK_AND_ASSIGN(const FolderPage page,
                       ParseFolderPage(R"({"data":[{"type":"folders","id":"f",
        "attributes":{"name":"Deep","extension":{"data":{"folderParents":[
          {"urn":"b","parentUrn":"a","title":"B","isRoot":false},
          {"urn":"root","title":"guid-root-folder","isRoot":true},
          {"urn":"a","parentUrn":"root","title":"A","isRoot":false}
        ]}}}},
        {"type":"folders","id":"g","attributes":{"name":"Loop",
         "extension":{"data":{"folderParents":[
          {"urn":"a","parentUrn":"b","title":"A"},
          {"urn":"b","parentUrn":"a","title":"B"}]}}}}]})"));
  EXPECT_THAT(page.folders[0].parent_names, ElementsAre("A", "B"));
  EXPECT_THAT(page.folders[1].parent_names, IsEmpty());
}

TEST(ParseFolderPageTest, CallsADeletedFileByItsOriginalName) {
  ASSERT_OK_AND_ASSIGN(
      const FolderPage page,
      ParseFolderPage(
          With(R"("type": "versions:autodesk.bim360:File", "data": "odd")",
               R"("type": "versions:autodesk.core:Deleted",
             "data": {"originalName": "Was.pdf"})")));
  EXPECT_EQ(page.items[0].name, "Was.pdf");
}

TEST(ParseProjectsTest, ReadsEveryKind) {
  ASSERT_OK_AND_ASSIGN(
      const ProjectPage page,
      ParseProjects(R"({"links":{"next":{"href":"/next"}},"data":[
        {"type":"projects","id":"b.1","attributes":{"name":"One",
          "extension":{"type":"projects:autodesk.bim360:Project",
                       "data":{"projectType":"ACC"}}},
         "relationships":{"rootFolder":{"data":{"id":"urn:root"}}}},
        {"type":"projects","id":"b.2","attributes":{"name":"Two"}},
        {"type":"projects","id":"b.3"}]})"));
  ASSERT_EQ(page.projects.size(), 2);
  EXPECT_EQ(page.projects[0].kind, "ACC");
  EXPECT_EQ(page.projects[0].root_folder_id, "urn:root");
  EXPECT_EQ(page.projects[1].kind, "");
  EXPECT_EQ(page.projects[1].root_folder_id, "");
  EXPECT_EQ(page.next_page_url, "/next");
  EXPECT_THAT(page.defects, ElementsAre(HasSubstr("b.3")));
}

TEST(ParseHubsTest, ReadsHubsAndWarnings) {
  ASSERT_OK_AND_ASSIGN(
      const HubList list,
      ParseHubs(R"({"data":[{"type":"hubs","id":"b.acc","attributes":{
          "name":"Acme","region":"MARS",
          "extension":{"type":"hubs:autodesk.bim360:Account"}}}],
        "meta":{"warnings":[{"Id":null,"HttpStatusCode":"403",
          "ErrorCode":"BIM360DM_ERROR","Title":"Unable to get hubs",
          "Detail":"You don't have permission","meta":null}]}})"));
  ASSERT_EQ(list.hubs.size(), 1);
  EXPECT_EQ(list.hubs[0].region, "MARS");
  ASSERT_EQ(list.warnings.size(), 1);
  EXPECT_EQ(list.warnings[0].http_status, "403");
  EXPECT_EQ(list.warnings[0].code, "BIM360DM_ERROR");
}

TEST(ParseSignedDownloadTest, ReadsACompleteObject) {
  ASSERT_OK_AND_ASSIGN(
      SignedDownload download,
      ParseSignedDownload(R"({"status":"complete","url":"https://s3/x?y",
        "params":{},"size":221983,
        "sha1":"4F2ddfa9f898eda7edee1ab9827cfeb57f2ec647"})"));
  ASSERT_EQ(download.ranges.size(), 1);
  EXPECT_EQ(download.ranges[0].last, 221982);
  EXPECT_EQ(download.ranges[0].url, "https://s3/x?y");
  EXPECT_EQ(download.sha1, "4f2ddfa9f898eda7edee1ab9827cfeb57f2ec647");
  ASSERT_OK_AND_ASSIGN(download, ParseSignedDownload(R"({"status":"complete",
        "url":"https://s3/x","sha1":"Ty3fqfiY7aft7hq5gnz+tX8uxkc="})"));
  EXPECT_FALSE(download.size);
  EXPECT_EQ(download.ranges[0].last, -1);
  EXPECT_EQ(download.sha1, "4f2ddfa9f898eda7edee1ab9827cfeb57f2ec647");
}

TEST(ParseSignedDownloadTest, ReadsAnEmptyObjectAndAnOddDigest) {
  ASSERT_OK_AND_ASSIGN(
      const SignedDownload download,
      ParseSignedDownload(R"({"status":"fallback","url":"http://h/x",
        "size":0,"sha1":"none"})"));
  EXPECT_EQ(download.size, 0);
  EXPECT_EQ(download.ranges[0].last, -1);
  EXPECT_EQ(download.sha1, "");
}

std::string Chunked(absl::string_view urls) {
  return absl::StrCat(R"({"status":"chunked","size":30,"urls":{)", urls, "}}");
}

TEST(ParseSignedDownloadTest, SortsTheRangesOfAChunkedObject) {
  ASSERT_OK_AND_ASSIGN(
      const SignedDownload download,
      ParseSignedDownload(Chunked(
          R"("20-29":"https://h/c","0-9":"https://h/a","10-19":"https://h/b")")));
  ASSERT_EQ(download.ranges.size(), 3);
  EXPECT_EQ(download.ranges[0].url, "https://h/a");
  EXPECT_EQ(download.ranges[2].first, 20);
  EXPECT_EQ(download.size, 30);
}

TEST(ParseSignedDownloadTest, RefusesWhatDoesNotFitTogether) {
  for (const std::string& json :
       {Chunked(R"("0-9":"https://h/a","11-29":"https://h/b")"),
        Chunked(R"("0-9":"https://h/a","9-29":"https://h/b")"),
        Chunked(R"("0-9":"https://h/a")"), Chunked(""),
        Chunked(R"("1-29":"https://h/a")"), Chunked(R"("a-b":"https://h/a")"),
        Chunked(R"("0-29":"")"),
        Chunked(R"("0-9223372036854775807":"https://h/a")"),
        std::string(R"({"status":"chunked"})"),
        std::string(R"({"status":"complete","size":3})"),
        std::string(R"({"status":"complete","url":"https://h/","size":-3})"),
        std::string(R"({"status":"error","reason":"Not found"})"),
        std::string("{}")}) {
    EXPECT_THAT(ParseSignedDownload(json), StatusIs(kDataLoss)) << json;
  }
}

TEST(ParseTokenTest, ReadsTokenAndLife) {
  ASSERT_OK_AND_ASSIGN(
      Token token, ParseToken(R"({"access_token":"abc","expires_in":3599})"));
  EXPECT_EQ(token.access_token.Reveal(), "abc");
  EXPECT_EQ(token.expires_in, absl::Seconds(3599));
  ASSERT_OK_AND_ASSIGN(token, ParseToken(R"({"access_token":"abc"})"));
  EXPECT_GT(token.expires_in, absl::ZeroDuration());
  EXPECT_THAT(ParseToken("{}"), StatusIs(kDataLoss));
}

TEST(ParseErrorBodyTest, ReadsEveryForm) {
  EXPECT_EQ(ParseErrorBody(R"({"jsonapi":{},"errors":[{"id":"1",
              "status":"404","code":"FOLDER_NOT_FOUND","detail":"No\nsuch"}]})"),
            "FOLDER_NOT_FOUND: No such");
  EXPECT_EQ(ParseErrorBody(R"({"developerMessage":"Quota limit exceeded.",
              "errorCode":"ERR-001","more info":"https://x"})"),
            "ERR-001: Quota limit exceeded.");
  EXPECT_EQ(ParseErrorBody(R"({"error":"invalid_client",
              "error_description":"bad"})"),
            "invalid_client: bad");
  EXPECT_EQ(ParseErrorBody(R"({"reason":"Object not found"})"),
            "Object not found");
  EXPECT_EQ(ParseErrorBody(R"({"errors":[]})"), "");
  EXPECT_EQ(ParseErrorBody("<html>"), "");
  EXPECT_EQ(ParseErrorBody(""), "");
}

TEST(ParseTimestampTest, TakesZeroToSevenFractionalDigits) {
  const absl::Time time = absl::FromUnixSeconds(1651825670);
  EXPECT_EQ(ParseTimestamp("2022-05-06T08:27:50Z"), time);
  EXPECT_EQ(ParseTimestamp("2022-05-06T08:27:50.0000000Z"), time);
  EXPECT_EQ(ParseTimestamp("2022-05-06T08:27:50.250+00:00"),
            time + absl::Milliseconds(250));
  EXPECT_EQ(ParseTimestamp("2022-05-06T10:27:50+02:00"), time);
  EXPECT_EQ(ParseTimestamp("2022-05-06T08:27:50.1"),
            time + absl::Milliseconds(100));
  EXPECT_EQ(ParseTimestamp("2022-05-06T08:27:50.123456789Z"),
            time + absl::Nanoseconds(123456789));
  EXPECT_EQ(ParseTimestamp("yesterday"), absl::InfinitePast());
  EXPECT_EQ(ParseTimestamp(""), absl::InfinitePast());
}

TEST(ParseTimestampTest, ReadsUtcAsAbseilReadsIt) {
  for (const char* text :
       {"1970-01-01T00:00:00Z",    "1969-12-31T23:59:59.9Z",
        "0000-01-01T00:00:00Z",    "9999-12-31T23:59:59.9999999Z",
        "2024-02-29T12:00:00Z",    "2023-02-29T12:00:00Z",
        "2022-13-01T00:00:00Z",    "2022-00-01T00:00:00Z",
        "2022-01-00T00:00:00Z",    "2022-01-01T24:00:00Z",
        "2022-01-01T00:60:00Z",    "2022-06-30T23:59:60Z",
        "2022-06-30T23:59:61Z",    "2022-01-01T00:00:00.Z",
        "2022-01-01T00:00:00,5Z",  "2022-01-01T00:00:00.5z",
        "2022-01-01T00:00:00.5 Z", "2022-1-01T00:00:00Z",
        "+022-01-01T00:00:00Z",    "2022-01-01 00:00:00Z",
        "2022-01-01T00:00Z"}) {
    absl::Time expected;
    if (!absl::ParseTime(absl::RFC3339_full, text, &expected, nullptr)) {
      expected = absl::InfinitePast();
    }
    EXPECT_EQ(ParseTimestamp(text), expected) << text;
  }
}

}  // namespace
}  // namespace bimbackup::bim360
