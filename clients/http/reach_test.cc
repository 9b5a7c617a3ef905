// Where requests end up, whatever their hosts resolve to.

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "clients/http/curl_transport_fixture.h"
#include "clients/http/host_policy.h"
#include "gmock/gmock.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr char kHello[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class ReachTest : public CurlTransportTest {
 protected:
  ReachTest() { Say(kHello); }

  absl::StatusOr<Response> FetchFrom(absl::string_view host, Reach reach) {
    Request request;
    request.url = absl::StrCat("http://", host, ":", Port(), "/x?sig=secret");
    request.reach = reach;
    return Fetch(*transport_, request, 100);
  }

  int Port() { return ParseUrl(server_->Url("/"))->port; }
};

TEST_F(ReachTest, AHostThatLeadsToLoopbackIsNotPublic) {
  // What resolves it has nothing to do with how it is written.
  for (const char* host :
       {"localhost", "127.0.0.1", "127.1", "0x7f.1", "2130706433"}) {
    EXPECT_THAT(
        FetchFrom(host, Reach::kPublic),
        StatusIs(absl::StatusCode::kPermissionDenied,
                 AllOf(ContainsRegex("127.0.0.1,|::1,"),
                       HasSubstr("--allowed_hosts"), Not(HasSubstr("secret")))))
        << host;
  }
  EXPECT_THAT(FetchFrom("[::ffff:127.0.0.1]", Reach::kPublic),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ReachTest, PrivateAddressesAreNoPublicOnes) {
  // Nothing is sent: the answer comes at once, without a network.
  for (const char* host : {"10.0.0.1", "169.254.169.254", "192.168.1.1",
                           "0.0.0.0", "[fd00::1]", "[::ffff:10.0.0.1]"}) {
    for (const Reach reach : {Reach::kPublic, Reach::kLoopback}) {
      EXPECT_THAT(FetchFrom(host, reach),
                  StatusIs(absl::StatusCode::kPermissionDenied))
          << host;
    }
  }
}

TEST_F(ReachTest, LoopbackReachesLoopback) {
  for (const Reach reach : {Reach::kLoopback, Reach::kAnywhere}) {
    ASSERT_OK_AND_ASSIGN(const Response response,
                         FetchFrom("localhost", reach));
    EXPECT_EQ(response.body, "hello");
  }
}

TEST_F(ReachTest, BehindAProxyItsRulesHold) {
  // The proxy is the scripted server, which answers whatever it is asked.
  setenv("http_proxy", absl::StrCat("http://127.0.0.1:", Port()).c_str(), 1);
  Request request;
  request.url = "http://no-such-host.invalid/x";
  request.reach = Reach::kPublic;
  const auto response = Fetch(*transport_, request, 100);
  setenv("no_proxy", "invalid", 1);
  const auto direct = Fetch(*transport_, request, 100);
  unsetenv("http_proxy");
  unsetenv("no_proxy");
  ASSERT_OK(response);
  EXPECT_EQ(response->body, "hello");
  EXPECT_THAT(direct, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ReachTest, APolicySaysHowFarARequestReaches) {
  ASSERT_OK_AND_ASSIGN(
      const HostPolicy policy,
      HostPolicy::Parse("named.example *.lab.example vpc.s3.amazonaws.com"));
  const auto reach_of = [&policy](const char* url) {
    Request request;
    request.url = url;
    EXPECT_OK(policy.Admit(request)) << url;
    return request.reach;
  };
  EXPECT_EQ(reach_of("https://b.s3.amazonaws.com/x"), Reach::kPublic);
  EXPECT_EQ(reach_of("https://cdn.us.oss.api.autodesk.com/x"), Reach::kPublic);
  EXPECT_EQ(reach_of("http://localhost:1/x"), Reach::kLoopback);
  EXPECT_EQ(reach_of("https://127.0.0.1/x"), Reach::kLoopback);
  EXPECT_EQ(reach_of("http://named.example:8360/x"), Reach::kAnywhere);
  EXPECT_EQ(reach_of("https://a.lab.example/x"), Reach::kAnywhere);
  EXPECT_EQ(reach_of("https://vpc.s3.amazonaws.com/x"), Reach::kAnywhere);
  Request request;
  request.url = "https://elsewhere.example/x";
  EXPECT_THAT(policy.Admit(request),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ReachTest, TheApiIsNotAskedInPlainText) {
  ASSERT_OK_AND_ASSIGN(const HostPolicy policy, HostPolicy::Parse("emulator"));
  for (const char* url : {"https://developer.api.autodesk.com",
                          "https://proxy.example:8443", "http://127.0.0.1:8360",
                          "http://localhost:1", "http://emulator:8360"}) {
    EXPECT_OK(policy.CheckApi(url)) << url;
  }
  for (const char* url :
       {"http://developer.api.autodesk.com", "http://10.0.0.1:8360",
        "http://emulator.example:8360"}) {
    EXPECT_THAT(policy.CheckApi(url),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         HasSubstr("--allowed_hosts")))
        << url;
  }
}

}  // namespace
}  // namespace bimbackup::http
