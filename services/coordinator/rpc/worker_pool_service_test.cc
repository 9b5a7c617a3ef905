#include "services/coordinator/rpc/worker_pool_service.h"

#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/lease/pool_harness.h"

namespace bimbackup::coordinator_rpc {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// The service on a real port, over a pool with a thread of its own.
class WorkerPoolServiceTest : public testing::Test {
 protected:
  WorkerPoolServiceTest() {
    lease::LeasePool::Options options;
    options.max_hold = absl::Seconds(2);
    pool_ = std::make_unique<lease::LeasePool>(parts_.store, parts_.blobs,
                                               client_, parts_.hosts, clock_,
                                               parts_.random, options);
    EXPECT_OK(pool_->Start());
    service_ =
        std::make_unique<WorkerPoolServiceImpl>(*pool_, "storage-1", clock_);
    auto server = rpc::GrpcServer::Start("127.0.0.1:0", {service_.get()});
    EXPECT_OK(server);
    server_ = *std::move(server);
    stub_ = v1::WorkerPoolService::NewStub(grpc::CreateChannel(
        server_->address(), grpc::InsecureChannelCredentials()));
  }

  ~WorkerPoolServiceTest() override {
    pool_->Stop();
    server_->Shutdown(absl::Seconds(1));
    server_.reset();
  }

  static v1::SynchronizeRequest Request(int slots = 4) {
    v1::SynchronizeRequest request;
    request.set_worker_id("w1");
    request.set_protocol_version(1);
    request.set_storage_id("storage-1");
    request.set_free_slots(slots);
    request.set_may_hold(true);
    return request;
  }

  grpc::Status Synchronize(const v1::SynchronizeRequest& request,
                           v1::SynchronizeResponse& response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    return stub_->Synchronize(&context, request, &response);
  }

  SystemClock clock_;
  lease::PoolHarness parts_;
  lease::SigningClient client_{clock_};
  std::unique_ptr<lease::LeasePool> pool_;
  std::unique_ptr<WorkerPoolServiceImpl> service_;
  std::unique_ptr<rpc::GrpcServer> server_;
  std::unique_ptr<v1::WorkerPoolService::Stub> stub_;
};

TEST_F(WorkerPoolServiceTest, RefusesWhoDoesNotBelongHere) {
  v1::SynchronizeResponse response;
  v1::SynchronizeRequest request = Request();
  request.clear_worker_id();
  EXPECT_EQ(Synchronize(request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request = Request();
  request.set_protocol_version(2);
  grpc::Status status = Synchronize(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("same version"));
  request = Request();
  request.set_storage_id("storage-2");
  status = Synchronize(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("--storage"));
}

TEST_F(WorkerPoolServiceTest, RefusesWhatIsTooLong) {
  v1::SynchronizeResponse response;
  v1::SynchronizeRequest request = Request();
  request.set_display_name(std::string(5000, 'x'));
  grpc::Status status = Synchronize(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("display_name: 5000 bytes"));
  request = Request();
  for (int i = 0; i < 257; ++i) request.add_results();
  status = Synchronize(request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("results: 257 entries"));
  request = Request();
  for (int i = 0; i < 10'001; ++i) request.add_held();
  status = Synchronize(request, response);
  EXPECT_THAT(status.error_message(), HasSubstr("held: 10001 entries"));
  // gRPC's own bound on a message.
  request = Request();
  request.set_storage_problem(std::string(5 << 20, 'x'));
  EXPECT_EQ(Synchronize(request, response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(WorkerPoolServiceTest, HoldsACallWithoutNews) {
  v1::SynchronizeResponse response;
  const absl::Duration start = clock_.Monotonic();
  ASSERT_TRUE(Synchronize(Request(), response).ok());
  EXPECT_GE(clock_.Monotonic() - start, absl::Seconds(2));
  EXPECT_EQ(response.granted_size(), 0);
  EXPECT_EQ(response.lease_seconds(), 60);
}

TEST_F(WorkerPoolServiceTest, GrantsTransfersWithTheirUrls) {
  parts_.store.Add(1000);
  ASSERT_OK(pool_->BeginBackup(1, clock_.Now()));
  v1::SynchronizeResponse response;
  ASSERT_TRUE(Synchronize(Request(), response).ok());
  ASSERT_THAT(response.granted(), SizeIs(1));
  const v1::GrantedLease& granted = response.granted(0);
  EXPECT_EQ(granted.transfer().storage_urn(), "urn:1");
  EXPECT_THAT(granted.transfer().source().ranges(), SizeIs(1));
  EXPECT_EQ(granted.transfer().source().size(), 1000);
  EXPECT_GT(granted.epoch(), 0);
  EXPECT_TRUE(response.backup_running());

  grpc::ClientContext context;
  v1::ResolveDownloadRequest resolve;
  resolve.set_worker_id("w1");
  resolve.set_transfer_id(granted.transfer().transfer_id());
  resolve.set_epoch(granted.epoch());
  v1::ResolveDownloadResponse resolved;
  ASSERT_TRUE(stub_->ResolveDownload(&context, resolve, &resolved).ok());
  EXPECT_THAT(resolved.source().ranges(), SizeIs(1));
}

TEST_F(WorkerPoolServiceTest, SigningEndsWithItsCaller) {
  parts_.store.Add(1000);
  ASSERT_OK(pool_->BeginBackup(1, clock_.Now()));
  v1::SynchronizeResponse response;
  ASSERT_TRUE(Synchronize(Request(), response).ok());
  ASSERT_THAT(response.granted(), SizeIs(1));
  v1::ResolveDownloadRequest resolve;
  resolve.set_worker_id("w1");
  resolve.set_transfer_id(1);
  resolve.set_epoch(response.granted(0).epoch());

  client_.HoldCalls(true);
  grpc::ClientContext context;
  v1::ResolveDownloadResponse unused;
  std::thread caller(
      [&] { stub_->ResolveDownload(&context, resolve, &unused); });
  while (client_.WaitingCalls() == 0) std::this_thread::yield();
  context.TryCancel();
  caller.join();
  const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(20);
  while (client_.WaitingCalls() > 0 && clock_.Monotonic() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(client_.WaitingCalls(), 0);
  client_.HoldCalls(false);
}

TEST_F(WorkerPoolServiceTest, OutcomesOfANewerProtocolAreRetried) {
  parts_.store.Add(1000);
  ASSERT_OK(pool_->BeginBackup(1, clock_.Now()));
  v1::SynchronizeResponse response;
  ASSERT_TRUE(Synchronize(Request(), response).ok());
  ASSERT_THAT(response.granted(), SizeIs(1));
  v1::SynchronizeRequest request = Request(0);
  v1::TransferResult& result = *request.add_results();
  result.set_transfer_id(1);
  result.set_epoch(response.granted(0).epoch());
  result.set_outcome(static_cast<v1::TransferOutcome>(99));
  ASSERT_TRUE(Synchronize(request, response).ok());
  EXPECT_THAT(response.acknowledged_transfer_ids(), testing::ElementsAre(1));
  EXPECT_EQ(parts_.store.StateOf(1), catalog::TransferState::kPending);
}

TEST_F(WorkerPoolServiceTest, ACancelledCallFreesItsWorkersLeasesSoon) {
  parts_.store.Add(1000);
  ASSERT_OK(pool_->BeginBackup(1, clock_.Now()));
  v1::SynchronizeResponse response;
  ASSERT_TRUE(Synchronize(Request(), response).ok());
  ASSERT_THAT(response.granted(), SizeIs(1));

  v1::SynchronizeRequest parked = Request(0);
  parked.set_display_name("parked");
  v1::HeldLease& held = *parked.add_held();
  held.set_transfer_id(1);
  held.set_epoch(response.granted(0).epoch());
  grpc::ClientContext context;
  v1::SynchronizeResponse unused;
  std::thread caller([&] { stub_->Synchronize(&context, parked, &unused); });
  while (pool_->ListWorkers()[0].display_name != "parked") {
    std::this_thread::yield();
  }
  context.TryCancel();
  caller.join();

  v1::SynchronizeRequest other = Request();
  other.set_worker_id("w2");
  const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(20);
  do {
    ASSERT_TRUE(Synchronize(other, response).ok());
  } while (response.granted_size() == 0 && clock_.Monotonic() < deadline);
  EXPECT_THAT(response.granted(), SizeIs(1));
}

}  // namespace
}  // namespace bimbackup::coordinator_rpc
