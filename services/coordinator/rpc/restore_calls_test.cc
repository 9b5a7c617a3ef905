#include "services/coordinator/rpc/restore_calls.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "clients/restore/rpc/coordinator_source.h"
#include "clients/restore/source_contract.h"
#include "clients/storage/faulty_storage.h"
#include "gmock/gmock.h"
#include "services/common/clock.h"
#include "services/common/fake_clock.h"
#include "services/common/mutex.h"
#include "services/common/rpc/channel.h"
#include "services/common/rpc/grpc_server.h"

namespace bimbackup::coordinator_rpc {
namespace {

using absl_testing::StatusIs;
using restore::CoordinatorSource;
using testing::HasSubstr;

// A service with nothing but these calls.
class RestoreService final : public v1::CoordinatorService::CallbackService {
 public:
  explicit RestoreService(storage::Storage& storage) : calls_(storage) {}

  grpc::ServerWriteReactor<v1::RestoreSnapshotResponse>* RestoreSnapshot(
      grpc::CallbackServerContext*,
      const v1::RestoreSnapshotRequest* request) override {
    return calls_.RestoreSnapshot(*request);
  }
  grpc::ServerWriteReactor<v1::ReadBlobResponse>* ReadBlob(
      grpc::CallbackServerContext*,
      const v1::ReadBlobRequest* request) override {
    auto* stream = calls_.ReadBlob(*request);
    ++reads_;
    return stream;
  }

  // Calls of ReadBlob that have begun.
  int reads() const { return reads_; }

 private:
  RestoreCalls calls_;
  std::atomic<int> reads_ = 0;
};

// Lets nobody at its blobs until it is opened.
class GatedStorage : public storage::FaultyStorage {
 public:
  using FaultyStorage::FaultyStorage;
  ~GatedStorage() override { Open(); }

  absl::StatusOr<std::unique_ptr<storage::ObjectReader>> OpenBlob(
      absl::string_view sha256) override {
    {
      MutexLock lock(mutex_);
      while (!open_) changed_.Wait(mutex_);
    }
    return FaultyStorage::OpenBlob(sha256);
  }

  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

// A server on loopback, and a client's stub.
class Server {
 public:
  explicit Server(storage::Storage& storage)
      : service_(storage),
        server_(*rpc::GrpcServer::Start("127.0.0.1:0", {&service_})),
        stub_(v1::CoordinatorService::NewStub(
            rpc::Dial(rpc::Target{server_->address()}))) {}

  v1::CoordinatorService::Stub& stub() { return *stub_; }
  int calls() const { return service_.reads(); }
  void Shutdown() { server_->Shutdown(absl::ZeroDuration()); }

 private:
  RestoreService service_;
  const std::unique_ptr<rpc::GrpcServer> server_;
  const std::unique_ptr<v1::CoordinatorService::Stub> stub_;
};

class CoordinatorSourceFixture : public restore::SourceFixture {
 public:
  explicit CoordinatorSourceFixture(storage::Storage& storage)
      : server_(storage), source_(server_.stub(), clock_) {}
  restore::RestoreSource& source() override { return source_; }

 private:
  SystemClock clock_;
  Server server_;
  CoordinatorSource source_;
};

std::unique_ptr<restore::SourceFixture> MakeCoordinatorSource(
    storage::Storage& storage) {
  return std::make_unique<CoordinatorSourceFixture>(storage);
}

}  // namespace
}  // namespace bimbackup::coordinator_rpc

namespace bimbackup::restore {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Coordinator, SourceContractTest,
    testing::Values(coordinator_rpc::MakeCoordinatorSource));

}  // namespace
}  // namespace bimbackup::restore

namespace bimbackup::coordinator_rpc {
namespace {

class RestoreCallsTest : public testing::Test {
 protected:
  std::string PutBigBlob(int mebibytes) {
    return fixture_.PutBlob(
        std::string(static_cast<size_t>(mebibytes) << 20, 'x'));
  }

  int Reads() {
    return storage_.faults().calls(storage::StorageCall::kReadBlob);
  }

  snapshots::SnapshotsFixture fixture_;
  storage::FaultyStorage storage_{fixture_.storage()};
  Server server_{storage_};
  SystemClock clock_;
};

TEST_F(RestoreCallsTest, ReadsNoFurtherThanItsCallerTakes) {
  const std::string sha256 = PutBigBlob(64);
  CoordinatorSource source(server_.stub(), clock_);
  const auto blob = source.OpenBlob(sha256, 0);
  ASSERT_OK(blob);
  ASSERT_OK((*blob)->Next());
  // gRPC's own windows hold a few more.
  const int first = Reads();
  EXPECT_LT(first, 32);
  int64_t bytes = 0;
  while (true) {
    const auto next = (*blob)->Next();
    ASSERT_OK(next);
    if (next->empty()) break;
    bytes += static_cast<int64_t>(next->size());
  }
  EXPECT_EQ(bytes, 63 << 20);
}

TEST_F(RestoreCallsTest, CallersWhoTakeNothingHoldUpNobody) {
  const std::string big = PutBigBlob(16);
  const std::string small = fixture_.PutBlob("small");
  CoordinatorSource source(server_.stub(), clock_);
  // Far more than there are threads.
  std::vector<std::unique_ptr<restore::BlobStream>> idle;
  for (int i = 0; i < 40; ++i) {
    auto blob = source.OpenBlob(big, 0);
    ASSERT_OK(blob);
    ASSERT_OK((*blob)->Next());
    idle.push_back(*std::move(blob));
  }
  const auto blob = source.OpenBlob(small, 0);
  ASSERT_OK(blob);
  const auto bytes = (*blob)->Next();
  ASSERT_OK(bytes);
  EXPECT_EQ(*bytes, "small");
}

TEST_F(RestoreCallsTest, MoreStreamsThanItBearsAreToldSo) {
  const std::string sha256 = fixture_.PutBlob("bytes");
  GatedStorage gated(fixture_.storage());
  Server server(gated);
  CoordinatorSource source(server.stub(), clock_);
  std::vector<std::unique_ptr<restore::BlobStream>> streams;
  while (streams.size() < 200) {
    auto blob = source.OpenBlob(sha256, 0);
    ASSERT_OK(blob);
    streams.push_back(*std::move(blob));
  }
  while (server.calls() < 200) std::this_thread::yield();
  gated.Open();
  int given = 0;
  for (const auto& stream : streams) {
    const auto bytes = stream->Next();
    if (bytes.ok()) {
      ++given;
    } else {
      EXPECT_THAT(bytes, StatusIs(absl::StatusCode::kUnavailable,
                                  HasSubstr("too many")));
    }
  }
  EXPECT_EQ(given, 128);
  // Room comes back with those who leave.
  streams.clear();
  absl::Status status = absl::UnavailableError("");
  while (!status.ok()) {
    auto blob = source.OpenBlob(sha256, 0);
    ASSERT_OK(blob);
    status = (*blob)->Next().status();
  }
}

TEST_F(RestoreCallsTest, AStorageThatFailsIsSaidToFail) {
  const std::string sha256 = PutBigBlob(1);
  storage_.faults().Fail(storage::StorageCall::kReadBlob,
                         absl::UnavailableError("gone"));
  CoordinatorSource source(server_.stub(), clock_);
  const auto blob = source.OpenBlob(sha256, 0);
  ASSERT_OK(blob);
  EXPECT_THAT((*blob)->Next(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("gone")));
}

TEST_F(RestoreCallsTest, EndsItsStreamsWhenItStops) {
  const std::string sha256 = PutBigBlob(64);
  CoordinatorSource source(server_.stub(), clock_);
  const auto blob = source.OpenBlob(sha256, 0);
  ASSERT_OK(blob);
  ASSERT_OK((*blob)->Next());
  server_.Shutdown();
  absl::Status status;
  while (status.ok()) status = (*blob)->Next().status();
  EXPECT_FALSE(status.ok());
}

TEST_F(RestoreCallsTest, ACoordinatorThatSaysNothingIsLeft) {
  // A service whose answer never comes.
  class Silent final : public v1::CoordinatorService::CallbackService {
   public:
    grpc::ServerWriteReactor<v1::ReadBlobResponse>* ReadBlob(
        grpc::CallbackServerContext*, const v1::ReadBlobRequest*) override {
      class Reactor final
          : public grpc::ServerWriteReactor<v1::ReadBlobResponse> {
       public:
        void OnCancel() override { Finish(grpc::Status::CANCELLED); }
        void OnDone() override { delete this; }
      };
      return new Reactor;
    }
  };
  Silent service;
  const auto server = *rpc::GrpcServer::Start("127.0.0.1:0", {&service});
  const auto stub = v1::CoordinatorService::NewStub(
      rpc::Dial(rpc::Target{server->address()}));
  FakeClock clock;
  CoordinatorSource source(*stub, clock, absl::Seconds(30));
  const auto blob = source.OpenBlob(std::string(64, 'a'), 0);
  ASSERT_OK(blob);
  absl::Status status;
  std::thread reader([&] { status = (*blob)->Next().status(); });
  std::atomic<bool> done = false;
  std::thread mover([&] {
    while (!done) {
      clock.Advance(absl::Seconds(1));
      std::this_thread::yield();
    }
  });
  reader.join();
  done = true;
  mover.join();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("30s")));
}

}  // namespace
}  // namespace bimbackup::coordinator_rpc
