// Many transfers, and transfers under a bandwidth cap.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/time.h"
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

// Counts the bytes of a transfer, and tells its end.
class CountingHandler : public ResponseHandler {
 public:
  struct Count {
    std::atomic<int64_t> bytes = 0;
    std::atomic<bool> done = false;
  };

  explicit CountingHandler(Count& count) : count_(count) {}
  absl::Status OnHead(const ResponseHead&) override { return {}; }
  absl::Status OnBody(absl::string_view bytes) override {
    count_.bytes += static_cast<int64_t>(bytes.size());
    return {};
  }
  void OnDone(const absl::Status&, const TransferStats&) override {
    count_.done = true;
  }

 private:
  Count& count_;
};

// One transfer without an end, under a cap that changes.
class ChangingCapTest : public CurlTransportTest {
 protected:
  static constexpr int64_t kBuffer = 4096;

  ChangingCapTest() {
    Serve([](const Call&, LoopbackConnection& connection) {
      connection.Send(
          "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
      const std::string bytes(64 << 10, 'x');
      while (connection.Send(bytes)) continue;
    });
    CurlTransportOptions options;
    options.buffer_bytes = kBuffer;
    options.max_bytes_per_second = 4'000'000;
    transport_ = MakeTransport(options);
    id_ = transport_->Start(Get(), std::make_unique<CountingHandler>(count_));
  }

  ~ChangingCapTest() override {
    transport_->Cancel(id_);
    EXPECT_TRUE(Eventually([this] { return count_.done.load(); }));
  }

  template <typename Condition>
  bool Eventually(Condition condition) {
    const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(60);
    while (!condition()) {
      if (clock_.Monotonic() > deadline) return false;
      clock_.Sleep(absl::Milliseconds(1));
    }
    return true;
  }

  // Changes the cap; waits until that many more bytes have come, which is a
  // minute at most, and expects that they did not come faster.
  void ExpectUnder(int64_t cap, int64_t bytes) {
    transport_->SetMaxBytesPerSecond(cap);
    const absl::Duration start = clock_.Monotonic();
    const int64_t before = count_.bytes;
    ASSERT_TRUE(Eventually([&] { return count_.bytes >= before + bytes; }))
        << "at " << cap << " B/s came " << count_.bytes - before << " bytes";
    const int64_t after = count_.bytes;
    const absl::Duration passed = clock_.Monotonic() - start;
    if (cap == 0) return;
    // A tenth of a second may be made up for, a buffer may be on its way when
    // the cap changes, and one is delivered before it is paid for.
    const double allowed =
        static_cast<double>(cap) * (absl::ToDoubleSeconds(passed) + 0.1) +
        3 * kBuffer;
    EXPECT_LE(static_cast<double>(after - before), allowed)
        << "within " << passed << " at " << cap << " B/s";
  }

  SystemClock clock_;
  CountingHandler::Count count_;
  TransferId id_ = 0;
};

TEST_F(ChangingCapTest, HoldsWhileTheTransferRuns) {
  ExpectUnder(4'000'000, 1'000'000);
  // Lowered: at the old cap, this would take 25 ms.
  ExpectUnder(100'000, 100'000);
  // Raised: at the old cap, this would take minutes.
  ExpectUnder(40'000'000, 20'000'000);
  // Lifted: likewise, even with what is owed by then.
  ExpectUnder(10'000, kBuffer);
  ExpectUnder(0, 20'000'000);
  // And again, without a debt of before.
  ExpectUnder(100'000, 100'000);
}

}  // namespace
}  // namespace bimbackup::http
