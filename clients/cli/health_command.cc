// `health`: the standard health check, for containers that hold no other
// tool.

#include <chrono>
#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "services/common/rpc/channel.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli {
namespace {

int RunHealth(const CommandContext& context, const rpc::Target& target) {
  const auto stub = grpc::health::v1::Health::NewStub(rpc::Dial(target));
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status =
      stub->Check(&call, grpc::health::v1::HealthCheckRequest(), &response);
  if (!status.ok()) {
    return ReportFailure(context, target.address, rpc::FromGrpcStatus(status));
  }
  if (context.json()) {
    PrintJson(context, response);
  } else {
    *context.out << grpc::health::v1::HealthCheckResponse::ServingStatus_Name(
                        response.status())
                 << "\n";
  }
  const bool serving =
      response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  return serving ? kExitSuccess : kExitFailed;
}

}  // namespace

void AddHealthCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command =
      app.add_subcommand("health", "Ask any of the servers how it is");
  const auto target = std::make_shared<std::string>();
  command->add_option("target", *target,
                      "host:port; the coordinator where not given");
  command->callback([target, &chosen] {
    chosen = [target](const CommandContext& context) {
      return RunHealth(
          context, target->empty()
                       ? context.coordinator
                       : rpc::Target(*target, context.coordinator.credentials));
    };
  });
}

}  // namespace bimbackup::cli
