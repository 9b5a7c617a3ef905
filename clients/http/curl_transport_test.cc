#include "clients/http/curl_transport.h"

#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/http/curl_transport_fixture.h"
#include "clients/http/loopback_server.h"
#include "clients/http/recording_handler.h"
#include "clients/http/transport_contract.h"
#include "gmock/gmock.h"
#include "services/common/clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;
using testing::Not;
using Call = LoopbackServer::Call;

void ServeContract(const Call& call, LoopbackConnection& connection) {
  if (call.target == "/hello") {
    connection.Send(
        LoopbackServer::Answer(200, "hello, world", "X-Greeting: hi\r\n"));
  } else if (call.target == "/missing") {
    connection.Send(LoopbackServer::Answer(404, "nothing here"));
  } else if (call.target == "/echo") {
    connection.Send(LoopbackServer::Answer(200, call.body));
  } else if (call.target == "/empty") {
    connection.Send(LoopbackServer::Answer(200, ""));
  } else {
    connection.WaitUntilClosed();
  }
}

class CurlSetup : public TransportContractSetup {
 public:
  explicit CurlSetup(int io_threads) : server_(ServeContract) {
    CurlTransportOptions options;
    options.io_threads = io_threads;
    transport_ = MakeTransport(options);
  }

  HttpTransport& transport() override { return *transport_; }
  void DestroyTransport() override { transport_.reset(); }
  std::string base_url() override { return server_.Url(); }

 private:
  LoopbackServer server_;
  std::unique_ptr<CurlTransport> transport_;
};

INSTANTIATE_TEST_SUITE_P(
    Curl, TransportContract,
    testing::Values(
        TransportContractParam{"one_thread",
                               [] { return std::make_unique<CurlSetup>(1); }},
        TransportContractParam{"three_threads",
                               [] { return std::make_unique<CurlSetup>(3); }}),
    [](const auto& info) { return info.param.name; });

TEST_F(CurlTransportTest, AShortBodyIsDataLoss) {
  Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
  EXPECT_THAT(FetchIt(),
              StatusIs(absl::StatusCode::kDataLoss, Not(HasSubstr("secret"))));
}

TEST_F(CurlTransportTest, AChunkedBodyWithoutItsEndIsDataLoss) {
  Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n");
  EXPECT_THAT(FetchIt(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CurlTransportTest, ABodyThatEndsWithItsConnectionIsWhole) {
  Say("HTTP/1.1 200 OK\r\n\r\nno length");
  EXPECT_EQ(FetchIt()->body, "no length");
}

TEST_F(CurlTransportTest, AResetIsUnavailable) {
  Say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", true);
  const auto response = FetchIt();
  EXPECT_FALSE(response.ok());
  // The reset may overtake the bytes.
  EXPECT_TRUE(absl::IsUnavailable(response.status()) ||
              absl::IsDataLoss(response.status()))
      << response.status();
}

TEST_F(CurlTransportTest, NoAnswerIsUnavailable) {
  Say("");
  EXPECT_THAT(FetchIt(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(CurlTransportTest, NoServerIsUnavailable) {
  Say("");
  const Request request = Get();
  server_.reset();
  EXPECT_THAT(
      Fetch(*transport_, request, 100),
      StatusIs(absl::StatusCode::kUnavailable, Not(HasSubstr("secret"))));
}

TEST_F(CurlTransportTest, AStalledBodyBreaksTheIdleLimit) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly");
    connection.WaitUntilClosed();
  });
  Request request = Get();
  request.idle_limit = absl::Milliseconds(50);
  EXPECT_THAT(
      Fetch(*transport_, request, 1000),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("idle limit")));
}

TEST_F(CurlTransportTest, ASilentServerBreaksTheIdleLimit) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.WaitUntilClosed();
  });
  Request request = Get();
  request.idle_limit = absl::Milliseconds(50);
  EXPECT_THAT(
      Fetch(*transport_, request, 1000),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("idle limit")));
}

void Drip(LoopbackConnection& connection) {
  SystemClock clock;
  connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
  while (connection.Send("x")) clock.Sleep(absl::Milliseconds(2));
}

TEST_F(CurlTransportTest, ADripBreaksTheIdleLimit) {
  Serve([](const Call&, LoopbackConnection& connection) { Drip(connection); });
  Request request = Get();
  request.idle_limit = absl::Milliseconds(100);
  request.idle_bytes = 10'000;
  EXPECT_THAT(
      Fetch(*transport_, request, 1'000'000),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("idle limit")));
}

TEST_F(CurlTransportTest, ADripBreaksTheDeadline) {
  Serve([](const Call&, LoopbackConnection& connection) { Drip(connection); });
  Request request = Get();
  request.deadline = absl::Milliseconds(100);
  EXPECT_THAT(
      Fetch(*transport_, request, 1'000'000),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
}

TEST_F(CurlTransportTest, SkipsInformationalAnswers) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
                    LoopbackServer::Answer(200, "body"));
  });
  const auto recording = Record(*transport_, Get());
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_EQ(recording->heads(), 1);
  EXPECT_EQ(recording->head().status, 200);
  EXPECT_FALSE(FindHeader(recording->head().headers, "Link"));
  EXPECT_EQ(recording->body(), "body");
}

TEST_F(CurlTransportTest, AHeadAnswerHasALengthButNoBody) {
  Serve([](const Call& call, LoopbackConnection& connection) {
    EXPECT_EQ(call.method, "HEAD");
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  });
  Request request = Get();
  request.method = "HEAD";
  ASSERT_OK_AND_ASSIGN(const Response response, Fetch(*transport_, request, 0));
  EXPECT_EQ(FindHeader(response.headers, "content-length"), "100");
}

TEST_F(CurlTransportTest, RefusesHugeHeaders) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&head, "X-", i, ": ", std::string(1000, 'x'), "\r\n");
  }
  Say(head + "Content-Length: 0\r\n\r\n");
  EXPECT_THAT(FetchIt(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CurlTransportTest, GarbageIsNoAnswer) {
  Say("this is not HTTP\r\n\r\n");
  EXPECT_FALSE(FetchIt().ok());
}

TEST_F(CurlTransportTest, FollowsNoRedirect) {
  Say("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(FetchIt()->status, 302);
}

TEST_F(CurlTransportTest, SendsTheUrlByteForByte) {
  std::string target;
  Serve([&](const Call& call, LoopbackConnection& connection) {
    target = call.target;
    connection.Send(LoopbackServer::Answer(200, ""));
  });
  constexpr char kTarget[] = "/a/../b%2fc//d?X-Sig=%2B+a%3d&x=/./";
  EXPECT_OK(Fetch(*transport_, Get(kTarget), 10));
  EXPECT_EQ(target, kTarget);
}

TEST_F(CurlTransportTest, AsksForIdentityEncodingUnlessTold) {
  std::string head;
  Serve([&](const Call& call, LoopbackConnection& connection) {
    head = call.head;
    connection.Send(LoopbackServer::Answer(200, ""));
  });
  EXPECT_OK(FetchIt());
  EXPECT_THAT(head, HasSubstr("Accept-Encoding: identity"));
  CurlTransportOptions options;
  options.accept_gzip = true;
  transport_ = MakeTransport(options);
  EXPECT_OK(FetchIt());
  EXPECT_THAT(head, HasSubstr("Accept-Encoding: gzip"));
}

TEST_F(CurlTransportTest, ReusesConnectionsButNotWhenToldSo) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, "x"));
  });
  EXPECT_OK(FetchIt());
  const auto second = Record(*transport_, Get());
  ASSERT_TRUE(second->WaitDone());
  EXPECT_TRUE(second->stats().reused_connection);
  EXPECT_EQ(server_->connections(), 1);
  Request request = Get();
  request.fresh_connection = true;
  const auto third = Record(*transport_, request);
  ASSERT_TRUE(third->WaitDone());
  EXPECT_FALSE(third->stats().reused_connection);
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(CurlTransportTest, AGroupOfRequestsHasOneThread) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, "x"));
  });
  CurlTransportOptions options;
  options.io_threads = 2;
  transport_ = MakeTransport(options);
  const auto thread_of = [this](uint64_t group) {
    std::thread::id thread;
    const auto recording = std::make_shared<Recording>();
    recording->on_done = [&thread] { thread = std::this_thread::get_id(); };
    Request request = Get();
    request.group = group;
    Record(*transport_, request, recording);
    EXPECT_TRUE(recording->WaitDone());
    return thread;
  };
  const std::thread::id seventh = thread_of(7);
  const std::thread::id eighth = thread_of(8);
  EXPECT_NE(seventh, eighth);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(thread_of(7), seventh);
    EXPECT_EQ(thread_of(8), eighth);
  }
}

TEST_F(CurlTransportTest, RefusesWhatIsNoHttpUrl) {
  for (const char* url : {"ftp://127.0.0.1/a", "file:///etc/passwd", "",
                          "http://user:secret@127.0.0.1/"}) {
    Request request;
    request.url = url;
    EXPECT_THAT(
        Fetch(*transport_, request, 10),
        StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("secret"))))
        << url;
  }
}

TEST_F(CurlTransportTest, RefusesHeadersWithLineBreaks) {
  Say("");
  Request request = Get();
  request.headers = {{"X-A", "b\r\nX-C: d"}};
  EXPECT_THAT(Fetch(*transport_, request, 10),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CurlTransportOptionsTest, RefusesNonsense) {
  CurlTransportOptions options;
  options.io_threads = 0;
  EXPECT_THAT(CurlTransport::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options = {};
  options.buffer_bytes = 1;
  EXPECT_THAT(CurlTransport::Create(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::http
