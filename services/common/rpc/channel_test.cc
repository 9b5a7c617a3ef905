#include "services/common/rpc/channel.h"

#include <cstdlib>

#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/status_matchers.h"

namespace bimbackup::rpc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// Has a proxy in the environment at which nobody answers.
class DeadProxy {
 public:
  DeadProxy() {
    for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
      setenv(name, "http://127.0.0.1:1", /*overwrite=*/1);
    }
    for (const char* name : {"no_grpc_proxy", "no_proxy"}) unsetenv(name);
  }
  ~DeadProxy() {
    for (const char* name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
      unsetenv(name);
    }
  }
};

TEST(ChannelTest, DialAsksNoProxy) {
  const DeadProxy proxy;
  ASSERT_OK_AND_ASSIGN(auto server, GrpcServer::Start("127.0.0.1:0", {}));
  server->SetServing(true);
  const auto stub = Health::NewStub(Dial(server->address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(10));
  HealthCheckResponse response;
  const grpc::Status status =
      stub->Check(&context, HealthCheckRequest(), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
}

}  // namespace
}  // namespace bimbackup::rpc
