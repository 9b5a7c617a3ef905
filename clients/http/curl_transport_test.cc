#include "clients/http/curl_transport.h"

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

std::unique_ptr<CurlTransport> MakeTransport(
    const CurlTransportOptions& options = {}) {
  auto transport = CurlTransport::Create(options);
  EXPECT_OK(transport);
  return *std::move(transport);
}

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

class CurlTransportTest : public testing::Test {
 protected:
  void Serve(LoopbackServer::Handler handler) {
    server_ = std::make_unique<LoopbackServer>(std::move(handler));
  }

  // Every request gets these bytes, and then the end of the connection.
  void Say(std::string bytes, bool reset = false) {
    Serve([bytes, reset](const Call&, LoopbackConnection& connection) {
      connection.Send(bytes);
      connection.Close(reset);
    });
  }

  Request Get(absl::string_view target = "/file?signature=secret") {
    Request request;
    request.url = server_->Url(target);
    return request;
  }

  absl::StatusOr<Response> FetchIt() {
    return Fetch(*transport_, Get(), 100 << 20);
  }

  std::unique_ptr<LoopbackServer> server_;
  std::unique_ptr<CurlTransport> transport_ = MakeTransport();
};

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

// Keeps `width` transfers running until `left` have ended.
class Pump {
 public:
  Pump(HttpTransport& transport, Request request, int total, int width)
      : transport_(transport), request_(std::move(request)), left_(total) {
    for (int i = 0; i < width; ++i) StartNext();
  }

  bool WaitDone() {
    MutexLock lock(mutex_);
    while (ended_ < started_ || left_ > 0) {
      if (!changed_.WaitFor(mutex_, absl::Seconds(30))) return false;
    }
    return true;
  }

  int failed() const { return failed_; }

 private:
  class Handler : public ResponseHandler {
   public:
    explicit Handler(Pump& pump) : pump_(pump) {}
    absl::Status OnHead(const ResponseHead&) override { return {}; }
    absl::Status OnBody(absl::string_view) override { return {}; }
    void OnDone(const absl::Status& status, const TransferStats&) override {
      if (!status.ok()) ++pump_.failed_;
      pump_.StartNext();
      MutexLock lock(pump_.mutex_);
      ++pump_.ended_;
      pump_.changed_.NotifyAll();
    }

   private:
    Pump& pump_;
  };

  void StartNext() {
    {
      MutexLock lock(mutex_);
      if (left_ == 0) return;
      --left_;
      ++started_;
    }
    transport_.Start(request_, std::make_unique<Handler>(*this));
  }

  HttpTransport& transport_;
  const Request request_;
  std::atomic<int> failed_ = 0;
  Mutex mutex_;
  CondVar changed_;
  int left_ ABSL_GUARDED_BY(mutex_);
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
  int ended_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(CurlTransportTest, MovesAThousandSmallFilesOverFewConnections) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, std::string(1000, 'x')));
  });
  Pump pump(*transport_, Get(), 1000, 16);
  ASSERT_TRUE(pump.WaitDone());
  EXPECT_EQ(pump.failed(), 0);
  EXPECT_LE(server_->connections(), 16);
}

TEST_F(CurlTransportTest, AOneKilobyteCapSlowsButDoesNotBreakATransfer) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, std::string(3000, 'x')));
  });
  CurlTransportOptions options;
  options.max_bytes_per_second = 1000;
  transport_ = MakeTransport(options);
  Request request = Get();
  // Both shorter than the cap holds the transfer back.
  request.idle_limit = absl::Milliseconds(500);
  request.deadline = absl::Seconds(1);
  SystemClock clock;
  const absl::Duration start = clock.Monotonic();
  ASSERT_OK_AND_ASSIGN(const Response response,
                       Fetch(*transport_, request, 1 << 20));
  EXPECT_EQ(response.body.size(), 3000);
  EXPECT_GE(clock.Monotonic() - start, absl::Seconds(1));
}

TEST_F(CurlTransportTest, TheCapIsSharedByAllTransfers) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, std::string(20'000, 'x')));
  });
  CurlTransportOptions options;
  options.max_bytes_per_second = 200'000;
  options.io_threads = 2;
  transport_ = MakeTransport(options);
  SystemClock clock;
  const absl::Duration start = clock.Monotonic();
  Pump pump(*transport_, Get(), 10, 5);
  ASSERT_TRUE(pump.WaitDone());
  EXPECT_EQ(pump.failed(), 0);
  EXPECT_GE(clock.Monotonic() - start, absl::Milliseconds(700));
}

TEST_F(CurlTransportTest, AHeldTransferCanBeCancelled) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, std::string(100'000, 'x')));
  });
  CurlTransportOptions options;
  options.max_bytes_per_second = 1000;
  transport_ = MakeTransport(options);
  auto recording = std::make_shared<Recording>();
  std::atomic<bool> begun = false;
  recording->on_head = [&] { begun = true; };
  TransferId id = 0;
  Record(*transport_, Get(), recording, &id);
  while (!begun) std::this_thread::yield();
  transport_->Cancel(id);
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_THAT(recording->status(), StatusIs(absl::StatusCode::kCancelled));
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
