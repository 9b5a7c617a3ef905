// What the client does about tokens, errors and rates.

#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "clients/bim360/aps_client.h"
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
using ApsClientRetryTest = ApsClientTest;

TEST_F(ApsClientRetryTest, OneTokenServesManyCallersUntilNineTenthsOfItsLife) {
  AddToken();
  Answer("/contents", 200, kEmptyPage);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, &client = client()] {
      EXPECT_OK(client.ListFolderContents("b.p", "f", "", {}));
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

TEST_F(ApsClientRetryTest, A401RenewsTheTokenOnceForEverybody) {
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
      EXPECT_OK(client.ListFolderContents("b.p", "f", "", {}));
    });
  }
  threads.clear();
  EXPECT_EQ(tokens_, 2);
}

TEST_F(ApsClientRetryTest, A401ThatStaysIsTheError) {
  AddToken();
  Answer("/contents", 401, R"({"errorCode":"ID-AUTH-005"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnauthenticated,
                               HasSubstr("ID-AUTH-005")));
  EXPECT_EQ(transport_.CountRequests("/contents"), 2);
}

TEST_F(ApsClientRetryTest,
       RefusedCredentialsSayWhatToDoAndAreAskedForAgainLater) {
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

TEST_F(ApsClientRetryTest, RetriesServerErrorsOnAFreshConnection) {
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

TEST_F(ApsClientRetryTest, GivesUpAfterItsAttempts) {
  AddToken();
  Answer("/contents", 503, R"({"developerMessage":"down"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnavailable,
                               AllOf(HasSubstr("HTTP 503"), HasSubstr("down"),
                                     HasSubstr("5 attempts"))));
  EXPECT_EQ(transport_.CountRequests("/contents"), 5);
}

TEST_F(ApsClientRetryTest, DoesNotRetryWhatWillNotChange) {
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

TEST_F(ApsClientRetryTest, A429PausesItsClassForAsLongAsItSays) {
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

TEST_F(ApsClientRetryTest, EndlessThrottlingEnds) {
  AddToken();
  Answer("/contents", 429, "", {{"Retry-After", "1"}});
  Elapse([&] {
    EXPECT_THAT(List(), StatusIs(absl::StatusCode::kUnavailable,
                                 HasSubstr("HTTP 429")));
  });
}

// A call on a thread of its own, and its cancellation.
class CancelledCall {
 public:
  explicit CancelledCall(ApsClient& client)
      : thread_([this, &client] {
          status_ = client.ListFolderContents("b.p", "f", "", stop_.get_token())
                        .status();
        }) {}

  absl::Status Cancel() {
    stop_.request_stop();
    thread_.join();
    return status_;
  }

 private:
  std::stop_source stop_;
  absl::Status status_;
  std::thread thread_;
};

TEST_F(ApsClientRetryTest, ACancelledCallWaitsNeitherForAnswerNorForTurn) {
  AddToken();
  FakeTransport::Answer hang;
  hang.hang = true;
  transport_.AddRule(
      [](const http::Request& r) {
        return absl::StrContains(r.url, "/contents");
      },
      hang, 1);
  Answer("/contents", 429, "", {{"Retry-After", "600"}}, 1);
  Answer("/contents", 200, kEmptyPage);
  CancelledCall unanswered(client());
  while (transport_.CountRequests("/contents") == 0) std::this_thread::yield();
  EXPECT_THAT(unanswered.Cancel(), StatusIs(absl::StatusCode::kCancelled));
  CancelledCall throttled(client());
  while (limiter_.GetUsage(EndpointClass::kFolders).waiting == 0) {
    std::this_thread::yield();
  }
  EXPECT_THAT(throttled.Cancel(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(transport_.CountRequests("/contents"), 2);
  clock_.Advance(absl::Minutes(10));
  EXPECT_OK(List()) << "the client itself goes on";
}

TEST_F(ApsClientRetryTest, ACancelledCallWaitsForNoToken) {
  FakeTransport::Answer hang;
  hang.hang = true;
  transport_.AddRule(
      [](const http::Request& r) { return absl::EndsWith(r.url, kToken); },
      hang, 1);
  AddToken();
  Answer("/contents", 200, kEmptyPage);
  CancelledCall fetching(client());
  while (transport_.CountRequests(kToken) == 0) std::this_thread::yield();
  CancelledCall waiting(client());
  EXPECT_THAT(waiting.Cancel(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(fetching.Cancel(), StatusIs(absl::StatusCode::kCancelled));
  // Nor is the next one told that the fetch has failed.
  EXPECT_OK(List());
}

TEST_F(ApsClientRetryTest, ACancelledCallDoesNotWaitToBeRetried) {
  options_.backoff.initial = absl::Hours(1);
  options_.backoff.maximum = absl::Hours(1);
  AddToken();
  Answer("/contents", 500, "");
  CancelledCall call(client());
  while (transport_.CountRequests("/contents") == 0) std::this_thread::yield();
  EXPECT_THAT(call.Cancel(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(transport_.CountRequests("/contents"), 1);
}

TEST_F(ApsClientRetryTest, AnAppThatIsNotProvisionedIsToldWhatToDo) {
  AddToken();
  Answer("/hubs", 403, "");
  EXPECT_THAT(client().ListHubs({}),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr("Custom Integrations"),
                             HasSubstr("the-client"))));
  EXPECT_THAT(client().ListProjects("b.a", "", {}),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ApsClientRetryTest, ATokenQuotedByTheServerIsNotRepeated) {
  AddToken();
  Answer("/contents", 403, R"({"developerMessage":"bad token-1 here"})");
  EXPECT_THAT(List(), StatusIs(absl::StatusCode::kPermissionDenied,
                               Not(HasSubstr("token-1"))));
}

}  // namespace
}  // namespace bimbackup::bim360
