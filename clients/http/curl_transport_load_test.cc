// Many transfers, and transfers under a bandwidth cap.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "clients/http/curl_transport.h"
#include "clients/http/curl_transport_fixture.h"
#include "clients/http/loopback_server.h"
#include "clients/http/recording_handler.h"
#include "services/common/clock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;
using Call = LoopbackServer::Call;
using CurlTransportLoadTest = CurlTransportTest;

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

TEST_F(CurlTransportLoadTest, MovesAThousandSmallFilesOverFewConnections) {
  Serve([](const Call&, LoopbackConnection& connection) {
    connection.Send(LoopbackServer::Answer(200, std::string(1000, 'x')));
  });
  Pump pump(*transport_, Get(), 1000, 16);
  ASSERT_TRUE(pump.WaitDone());
  EXPECT_EQ(pump.failed(), 0);
  EXPECT_LE(server_->connections(), 16);
}

TEST_F(CurlTransportLoadTest, AOneKilobyteCapSlowsButDoesNotBreakATransfer) {
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

TEST_F(CurlTransportLoadTest, TheCapIsSharedByAllTransfers) {
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

TEST_F(CurlTransportLoadTest, AHeldTransferCanBeCancelled) {
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

}  // namespace
}  // namespace bimbackup::http
