#include "clients/bim360/aps_client.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "clients/bim360/aps_client_fixture.h"
#include "clients/http/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using http::FakeTransport;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kUrn[] = "urn:adsk.objects:os.object:wip.dm.prod/a b/c.pdf";

TEST_F(ApsClientTest, SendsWhatAutodeskWants) {
  AddToken();
  Answer("/contents", 200, kEmptyPage);
  EXPECT_OK(List());
  const std::vector<http::Request> requests = transport_.Requests();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(http::FindHeader(requests[0].headers, "Authorization"),
            "Basic dGhlLWNsaWVudDp0aGUtc2VjcmV0");
  EXPECT_EQ(requests[0].body,
            "grant_type=client_credentials&"
            "scope=data%3Aread");
  EXPECT_EQ(requests[1].url,
            "https://api.test/data/v1/projects/b.p/folders/urn%3Af%3Aco.-x/"
            "contents?page%5Blimit%5D=200");
  EXPECT_EQ(http::FindHeader(requests[1].headers, "Authorization"),
            "Bearer token-1");
}

TEST_F(ApsClientTest, ListsHubsProjectsAndTopFolders) {
  AddToken();
  Answer("/topFolders", 200,
         R"({"data":[{"type":"folders","id":"f1",
             "attributes":{"name":"Project Files"}}]})");
  Answer("/projects?", 200,
         R"({"data":[{"id":"b.p","attributes":{"name":"P"}}],
             "links":{"next":{"href":"/project/v1/more"}}})");
  Answer("/hubs", 200, R"({"data":[{"id":"b.a"}]})");
  EXPECT_THAT(client().ListHubs({})->hubs, SizeIs(1));
  ASSERT_OK_AND_ASSIGN(const ProjectPage page,
                       client().ListProjects("b.a", "", {}));
  EXPECT_EQ(page.next_page_url, "https://api.test/project/v1/more");
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p", {})->folders, SizeIs(1));
  EXPECT_EQ(transport_.CountRequests(
                "https://api.test/project/v1/hubs/b.a/projects/b.p/topFolders"),
            1);
}

TEST_F(ApsClientTest, FollowsNextLinksOnItsOwnHostOnly) {
  AddToken();
  Answer("/contents", 200,
         R"({"data":[],"links":{"next":{"href":"data/v1/next?a=b"}}})");
  Answer("/data/v1/next", 200,
         R"({"data":[],"links":{"next":"https://evil.test/steal"}})");
  ASSERT_OK_AND_ASSIGN(FolderPage page, List());
  EXPECT_EQ(page.next_page_url, "https://api.test/data/v1/next?a=b");
  ASSERT_OK_AND_ASSIGN(
      page, client().ListFolderContents("b.p", "f", page.next_page_url, {}));
  for (const std::string& url :
       {page.next_page_url, std::string("http://api.test/x"),
        std::string("https://api.test:444/x"), std::string("ftp://x"),
        std::string("https://api.test@evil.test/")}) {
    EXPECT_THAT(client().ListFolderContents("b.p", "f", url, {}),
                StatusIs(absl::StatusCode::kDataLoss))
        << url;
  }
  EXPECT_EQ(transport_.CountRequests("evil"), 0);
}

TEST_F(ApsClientTest, AsksOnceMoreForAMalformedAnswer) {
  AddToken();
  Answer("/contents", 200, "{\"data\":[", {}, 1);
  Answer("/contents", 200, kEmptyPage, {}, 1);
  EXPECT_OK(List());
  Answer("/contents", 200, "<html>");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("list folder contents")));
  EXPECT_EQ(transport_.CountRequests("/contents"), 4);
}

constexpr char kMixedFolders[] = R"({"data":[
  {"type":"folders","id":"1","attributes":{"name":"Project Files"}},
  {"type":"folders","id":"2","attributes":{"name":"Old","hidden":true}},
  {"type":"folders","id":"3","attributes":{"name":"ProjectTb"}},
  {"type":"folders","id":"4",
   "attributes":{"name":"00000000-0000-4000-8000-000000000001"}}]})";

TEST_F(ApsClientTest, LeavesHiddenAndServiceFoldersOutUnlessTold) {
  AddToken();
  Answer("/projects?", 200,
         R"({"data":[{"id":"b.p","attributes":{"name":"P"},
             "relationships":{"rootFolder":{"data":{"id":"root"}}}}]})");
  Answer("/", 200, kMixedFolders);
  EXPECT_OK(client().ListProjects("b.a", "", {}));
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p", {})->folders, SizeIs(1));
  EXPECT_THAT(client().ListFolderContents("b.p", "root", "", {})->folders,
              SizeIs(1));
  // Deeper, such names are people's.
  EXPECT_THAT(client().ListFolderContents("b.p", "deep", "", {})->folders,
              SizeIs(3));
  client_.reset();
  options_.include_hidden = true;
  options_.include_service_folders = true;
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p", {})->folders, SizeIs(4));
  EXPECT_THAT(client().ListFolderContents("b.p", "deep", "", {})->folders,
              SizeIs(4));
  EXPECT_EQ(transport_.CountRequests("includeHidden=true"), 1);
}

TEST_F(ApsClientTest, SignsDownloads) {
  AddToken();
  Answer("/signeds3download", 200,
         R"({"status":"complete","url":"https://s3.test/x?sig","size":9})", {},
         1);
  Answer("/signeds3download", 200,
         R"({"status":"fallback","size":9,
             "url":"http://api.test/oss/v2/signedresources/1?region=US"})");
  ASSERT_OK_AND_ASSIGN(SignedDownload download,
                       client().SignDownload(kUrn, absl::Minutes(45), {}));
  EXPECT_EQ(download.ranges[0].url, "https://s3.test/x?sig");
  EXPECT_EQ(download.expires, clock_.Monotonic() + absl::Minutes(45));
  EXPECT_EQ(transport_.CountRequests(
                "https://api.test/oss/v2/buckets/wip.dm.prod/objects/"
                "a%20b%2Fc.pdf/signeds3download?minutesExpiration=45"),
            1);
  ASSERT_OK_AND_ASSIGN(download,
                       client().SignDownload(kUrn, absl::Hours(10), {}));
  EXPECT_EQ(download.ranges[0].url,
            "https://api.test/oss/v2/signedresources/1?region=US");
  EXPECT_EQ(transport_.CountRequests("minutesExpiration=60"), 1);
}

TEST_F(ApsClientTest, RefusesMalformedStorageUrns) {
  for (const char* urn :
       {"", "Missing", "urn:adsk.objects:os.object:wip.dm.prod",
        "urn:adsk.objects:os.object:wip.dm.prod/",
        "urn:adsk.objects:os.object:a/b", "urn:adsk.objects:os.object:A..B/b",
        "urn:adsk.objects:os.object:../../x/b"}) {
    EXPECT_THAT(client().SignDownload(urn, absl::Minutes(1), {}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << urn;
  }
  EXPECT_THAT(transport_.Requests(), SizeIs(0));
}

TEST_F(ApsClientTest, MeasuresTheClockSkew) {
  AddToken();
  Answer("/contents", 200, kEmptyPage,
         {{"Date", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                    clock_.Now() + absl::Seconds(90),
                                    absl::UTCTimeZone())}});
  EXPECT_FALSE(client().ClockSkew());
  EXPECT_OK(List());
  EXPECT_EQ(client().ClockSkew(), absl::Seconds(90));
}

TEST_F(ApsClientTest, CancelEndsRunningAndLaterCalls) {
  AddToken();
  FakeTransport::Answer hang;
  hang.hang = true;
  transport_.AddRule(
      [](const http::Request& r) {
        return absl::StrContains(r.url, "/contents");
      },
      hang);
  std::jthread caller([&, &client = client()] {
    EXPECT_THAT(client.ListFolderContents("b.p", "f", "", {}),
                StatusIs(absl::StatusCode::kCancelled));
  });
  while (transport_.CountRequests("/contents") == 0) {
    std::this_thread::yield();
  }
  client().Cancel();
  caller.join();
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(ApsClientTest, RefusesOptionsThatCannotWork) {
  options_.base_url = "autodesk";
  EXPECT_THAT(
      ApsClient::Create(options_, transport_, limiter_, clock_, random_),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("--bim360_base_url")));
  options_ = Options();
  options_.client_secret = Secret();
  EXPECT_THAT(
      ApsClient::Create(options_, transport_, limiter_, clock_, random_),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("APS_CLIENT")));
}

}  // namespace
}  // namespace bimbackup::bim360
