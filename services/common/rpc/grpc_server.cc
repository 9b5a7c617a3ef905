#include "services/common/rpc/grpc_server.h"

#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "services/common/status_macros.h"

namespace bimbackup::rpc {
namespace {

// So that a certificate that was replaced, or is no longer good, is looked at
// again. Running calls end on the old connection.
constexpr absl::Duration kMaxConnectionAge = absl::Hours(1);

// gRPC's plugins are process-wide and must be installed before any server.
void InstallPluginsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    // Links the health service's descriptor, so that reflection, and with it
    // grpcurl, can describe the service that it lists.
    grpc::health::v1::HealthCheckRequest().GetDescriptor();
  });
}

std::string WithPort(absl::string_view address, int port) {
  if (absl::StartsWith(address, "unix:")) {
    return std::string(address.data(), address.size());
  }
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

// gRPC takes a port over 65535 for its remainder, and listens there.
bool PortIsInRange(absl::string_view address) {
  int64_t port = 0;
  return absl::StartsWith(address, "unix:") ||
         !absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port) ||
         (port >= 0 && port <= 65535);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    absl::string_view address, const std::vector<grpc::Service*>& services,
    const Security& security) {
  if (!PortIsInRange(address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address, ": no such port"));
  }
  ABSL_RETURN_IF_ERROR(security.CheckListen("--listen", address));
  InstallPluginsOnce();
  grpc::ServerBuilder builder;
  // Without this a second server would share the port silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  int port = 0;
  builder.AddListeningPort(std::string(address.data(), address.size()),
                           security.ForServer(), &port);
  if (security.tls()) {
    builder.AddChannelArgument(
        GRPC_ARG_MAX_CONNECTION_AGE_MS,
        static_cast<int>(absl::ToInt64Milliseconds(kMaxConnectionAge)));
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot listen on ", address,
        ": the address is malformed, or another process has the port"));
  }
  return std::unique_ptr<GrpcServer>(
      new GrpcServer(std::move(server), WithPort(address, port)));
}

GrpcServer::GrpcServer(std::unique_ptr<grpc::Server> server,
                       std::string address)
    : server_(std::move(server)), address_(std::move(address)) {
  SetServing(true);
}

GrpcServer::~GrpcServer() { Shutdown(absl::ZeroDuration()); }

void GrpcServer::SetServing(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

void GrpcServer::Shutdown(absl::Duration grace) {
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
  server_->Wait();
}

}  // namespace bimbackup::rpc
