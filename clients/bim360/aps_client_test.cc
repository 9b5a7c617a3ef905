#include "clients/bim360/aps_client.h"

#include <atomic>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/http/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;
using http::FakeTransport;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kToken[] = "/authentication/v2/token";
constexpr char kEmptyPage[] = R"({"data":[]})";
constexpr char kUrn[] = "urn:adsk.objects:os.object:wip.dm.prod/a b/c.pdf";

class ApsClientTest : public testing::Test {
 protected:
  ApsClientTest() { options_ = Options(); }

  static ApsClientOptions Options() {
    ApsClientOptions options;
    options.base_url = "https://api.test";
    options.client_id = "the-client";
    options.client_secret = Secret("the-secret");
    // No waits between attempts: the fake clock stands still.
    options.backoff.initial = absl::ZeroDuration();
    return options;
  }

  void AddToken(int times = -1) {
    transport_.AddRule(
        [](const http::Request& r) { return absl::EndsWith(r.url, kToken); },
        [this](const http::Request&) {
          FakeTransport::Answer answer;
          answer.response = {
              200,
              {},
              absl::StrCat(R"({"access_token":"token-)", ++tokens_,
                           R"(","expires_in":3599})")};
          return answer;
        },
        times);
  }

  // The next `times` calls to URLs with `part` get this answer.
  void Answer(absl::string_view part, int status, absl::string_view body,
              http::Headers headers = {}, int times = -1) {
    FakeTransport::Answer answer;
    answer.response = {status, std::move(headers),
                       std::string(body.data(), body.size())};
    transport_.AddRule(
        [part = std::string(part.data(), part.size())](const http::Request& r) {
          return absl::StrContains(r.url, part);
        },
        answer, times);
  }

  ApsClient& client() {
    if (client_ == nullptr) {
      auto client =
          ApsClient::Create(options_, transport_, limiter_, clock_, random_);
      EXPECT_OK(client);
      client_ = *std::move(client);
    }
    return *client_;
  }

  absl::StatusOr<FolderPage> List() {
    return client().ListFolderContents("b.p", "urn:f:co.-x", "");
  }

  // Runs `call` on a thread and moves time to the end of every pause until it
  // has ended; returns how much time that took.
  absl::Duration Elapse(const std::function<void()>& call) {
    const absl::Duration start = clock_.Monotonic();
    std::atomic<bool> done = false;
    std::jthread caller([&] {
      call();
      done = true;
    });
    while (!done) {
      const ApiLimiter::Usage usage =
          limiter_.GetUsage(EndpointClass::kFolders);
      const absl::Duration left = usage.paused_until - clock_.Monotonic();
      if (usage.waiting > 0 && left > absl::ZeroDuration()) {
        clock_.Advance(left);
      }
      std::this_thread::yield();
    }
    return clock_.Monotonic() - start;
  }

  FakeClock clock_;
  SeededRandom random_{7};
  ApiLimiter limiter_{std::numeric_limits<double>::infinity(), clock_};
  FakeTransport transport_;
  ApsClientOptions options_;
  std::atomic<int> tokens_ = 0;
  std::unique_ptr<ApsClient> client_;
};

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
  EXPECT_THAT(client().ListHubs()->hubs, SizeIs(1));
  ASSERT_OK_AND_ASSIGN(const ProjectPage page,
                       client().ListProjects("b.a", ""));
  EXPECT_EQ(page.next_page_url, "https://api.test/project/v1/more");
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p")->folders, SizeIs(1));
  EXPECT_EQ(transport_.CountRequests(
                "https://api.test/project/v1/hubs/b.a/projects/b.p/topFolders"),
            1);
}

TEST_F(ApsClientTest, OneTokenServesManyCallersUntilNineTenthsOfItsLife) {
  AddToken();
  Answer("/contents", 200, kEmptyPage);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, &client = client()] {
      EXPECT_OK(client.ListFolderContents("b.p", "f", ""));
    });
  }
  threads.clear();
  EXPECT_EQ(tokens_, 1);
  clock_.Advance(absl::Seconds(3200));
  EXPECT_OK(List());
  EXPECT_EQ(tokens_, 1);
  clock_.Advance(absl::Seconds(100));
  EXPECT_OK(List());
  EXPECT_EQ(tokens_, 2);
}

TEST_F(ApsClientTest, A401RenewsTheTokenOnceForEverybody) {
  AddToken();
  transport_.AddRule(
      [](const http::Request& r) {
        return http::FindHeader(r.headers, "Authorization") == "Bearer token-1";
      },
      [](const http::Request&) {
        FakeTransport::Answer answer;
        answer.response.status = 401;
        return answer;
      });
  Answer("/contents", 200, kEmptyPage);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, &client = client()] {
      EXPECT_OK(client.ListFolderContents("b.p", "f", ""));
    });
  }
  threads.clear();
  EXPECT_EQ(tokens_, 2);
}

TEST_F(ApsClientTest, A401ThatStaysIsTheError) {
  AddToken();
  Answer("/contents", 401, R"({"errorCode":"ID-AUTH-005"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnauthenticated,
                               HasSubstr("ID-AUTH-005")));
  EXPECT_EQ(transport_.CountRequests("/contents"), 2);
}

TEST_F(ApsClientTest, RefusedCredentialsSayWhatToDoAndAreAskedForAgainLater) {
  Answer(kToken, 401, R"({"error":"invalid_client"})", {}, 1);
  AddToken();
  Answer("/contents", 200, kEmptyPage);
  const auto refused = StatusIs(
      absl::StatusCode::kUnauthenticated,
      AllOf(HasSubstr("APS_CLIENT_SECRET"), HasSubstr("the-client"),
            HasSubstr("invalid_client"), Not(HasSubstr("the-secret"))));
  EXPECT_THAT(List(), refused);
  EXPECT_THAT(List(), refused);
  EXPECT_EQ(transport_.CountRequests(kToken), 1);
  clock_.Advance(absl::Seconds(6));
  EXPECT_OK(List());
}

TEST_F(ApsClientTest, RetriesServerErrorsOnAFreshConnection) {
  AddToken();
  Answer("/contents", 500, "", {}, 1);
  Answer("/contents", 408, "", {}, 1);
  FakeTransport::Answer reset;
  reset.error = absl::UnavailableError("reset");
  transport_.AddRule(
      [](const http::Request& r) {
        return absl::StrContains(r.url, "/contents");
      },
      reset, 1);
  Answer("/contents", 200, kEmptyPage);
  EXPECT_OK(List());
  const std::vector<http::Request> requests = transport_.Requests();
  ASSERT_THAT(requests, SizeIs(5));
  EXPECT_FALSE(requests[1].fresh_connection);
  EXPECT_TRUE(requests[2].fresh_connection);
  EXPECT_TRUE(requests[4].fresh_connection);
}

TEST_F(ApsClientTest, GivesUpAfterItsAttempts) {
  AddToken();
  Answer("/contents", 503, R"({"developerMessage":"down"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("HTTP 503"), HasSubstr("down"),
                                     HasSubstr("5 attempts"))));
  EXPECT_EQ(transport_.CountRequests("/contents"), 5);
}

TEST_F(ApsClientTest, DoesNotRetryWhatWillNotChange) {
  AddToken();
  Answer("/contents", 403, R"({"errors":[{"code":"USER_NOT_AUTHENTICATED"}]})",
         {}, 1);
  Answer("/contents", 404, R"({"errors":[{"code":"FOLDER_NOT_FOUND"}]})", {},
         1);
  Answer("/contents", 400, R"({"errors":[{"code":"BAD_INPUT"}]})", {}, 1);
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kPermissionDenied,
                               HasSubstr("USER_NOT_AUTHENTICATED")));
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("FOLDER_NOT_FOUND")));
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("BAD_INPUT")));
  EXPECT_EQ(transport_.CountRequests("/contents"), 3);
}

TEST_F(ApsClientTest, A429PausesItsClassForAsLongAsItSays) {
  AddToken();
  Answer("/contents", 429, "", {{"Retry-After", "25"}}, 1);
  Answer("/contents", 429, "",
         {{"Retry-After", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                           clock_.Now() + absl::Seconds(65),
                                           absl::UTCTimeZone())}},
         1);
  Answer("/contents", 429, "", {}, 1);
  Answer("/contents", 200, kEmptyPage);
  const absl::Duration took = Elapse([&] { EXPECT_OK(List()); });
  // 25 s, then until 65 s after the start, then the default.
  EXPECT_GE(took, absl::Seconds(74));
  EXPECT_LE(took, absl::Seconds(76));
}

TEST_F(ApsClientTest, EndlessThrottlingEnds) {
  AddToken();
  Answer("/contents", 429, "", {{"Retry-After", "1"}});
  Elapse([&] {
    EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnavailable,
                                 HasSubstr("HTTP 429")));
  });
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
      page, client().ListFolderContents("b.p", "f", page.next_page_url));
  for (const std::string& url :
       {page.next_page_url, std::string("http://api.test/x"),
        std::string("https://api.test:444/x"), std::string("ftp://x"),
        std::string("https://api.test@evil.test/")}) {
    EXPECT_THAT(client().ListFolderContents("b.p", "f", url),
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
  EXPECT_OK(client().ListProjects("b.a", ""));
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p")->folders, SizeIs(1));
  EXPECT_THAT(client().ListFolderContents("b.p", "root", "")->folders,
              SizeIs(1));
  // Deeper, such names are people's.
  EXPECT_THAT(client().ListFolderContents("b.p", "deep", "")->folders,
              SizeIs(3));
  client_.reset();
  options_.include_hidden = true;
  options_.include_service_folders = true;
  EXPECT_THAT(client().ListTopFolders("b.a", "b.p")->folders, SizeIs(4));
  EXPECT_THAT(client().ListFolderContents("b.p", "deep", "")->folders,
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
                       client().SignDownload(kUrn, absl::Minutes(45)));
  EXPECT_EQ(download.ranges[0].url, "https://s3.test/x?sig");
  EXPECT_EQ(download.expires, clock_.Monotonic() + absl::Minutes(45));
  EXPECT_EQ(transport_.CountRequests(
                "https://api.test/oss/v2/buckets/wip.dm.prod/objects/"
                "a%20b%2Fc.pdf/signeds3download?minutesExpiration=45"),
            1);
  ASSERT_OK_AND_ASSIGN(download, client().SignDownload(kUrn, absl::Hours(10)));
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
    EXPECT_THAT(client().SignDownload(urn, absl::Minutes(1)),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << urn;
  }
  EXPECT_THAT(transport_.Requests(), SizeIs(0));
}

TEST_F(ApsClientTest, AnAppThatIsNotProvisionedIsToldWhatToDo) {
  AddToken();
  Answer("/hubs", 403, "");
  EXPECT_THAT(client().ListHubs(),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr("Custom Integrations"),
                             HasSubstr("the-client"))));
  EXPECT_THAT(client().ListProjects("b.a", ""),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ApsClientTest, ATokenQuotedByTheServerIsNotRepeated) {
  AddToken();
  Answer("/contents", 403, R"({"developerMessage":"bad token-1 here"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kPermissionDenied,
                               Not(HasSubstr("token-1"))));
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
    EXPECT_THAT(client.ListFolderContents("b.p", "f", ""),
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
