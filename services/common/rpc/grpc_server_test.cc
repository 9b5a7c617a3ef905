#include "services/common/rpc/grpc_server.h"

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::rpc {
namespace {

using absl_testing::StatusIs;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

TEST(GrpcServerTest, HealthFollowsSetServing) {
  ASSERT_OK_AND_ASSIGN(auto server, GrpcServer::Start("127.0.0.1:0", {}));
  auto stub = Health::NewStub(grpc::CreateChannel(
      server->address(), grpc::InsecureChannelCredentials()));
  for (const bool serving : {true, false}) {
    server->SetServing(serving);
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
    HealthCheckResponse response;
    ASSERT_TRUE(stub->Check(&context, HealthCheckRequest(), &response).ok());
    EXPECT_EQ(response.status(), serving ? HealthCheckResponse::SERVING
                                         : HealthCheckResponse::NOT_SERVING);
  }
}

TEST(GrpcServerTest, TakenPortIsRefused) {
  ASSERT_OK_AND_ASSIGN(auto server, GrpcServer::Start("127.0.0.1:0", {}));
  EXPECT_THAT(GrpcServer::Start(server->address(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr(server->address())));
}

TEST(GrpcServerTest, PortBeyondTheLastOneIsRefused) {
  EXPECT_THAT(GrpcServer::Start("127.0.0.1:99999", {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("127.0.0.1:99999")));
}

}  // namespace
}  // namespace bimbackup::rpc
