// `limits`.

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "services/common/clock.h"
#include "services/common/flags.h"

namespace bimbackup::cli {
namespace {

using Stub = v1::CoordinatorService::Stub;

struct LimitsFlags {
  std::optional<std::string> api_budget;
  std::optional<std::string> max_bandwidth;
  std::string worker;
};

std::string RateText(int64_t bytes_per_second) {
  return bytes_per_second == 0
             ? "unlimited"
             : absl::StrCat(HumanBytes(bytes_per_second), "/s");
}

int Print(const CommandContext& context, const v1::Limits& limits) {
  *context.out << "API budget: " << limits.api_budget()
               << " of Autodesk's rates\nbandwidth of all workers: "
               << RateText(limits.max_bandwidth()) << "\n";
  for (const auto& [worker_id, cap] : limits.worker_bandwidth()) {
    *context.out << "bandwidth of " << Printable(worker_id) << ": "
                 << RateText(cap) << "\n";
  }
  return kExitSuccess;
}

// Calls and prints; both answers hold the limits.
template <typename Method, typename Request>
int CallAndPrint(const CommandContext& context, Method method,
                 const Request& request) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  const auto response = client.Call(method, request);
  if (!response.ok()) {
    return ReportFailure(context, "limits", response.status());
  }
  if (context.json()) {
    PrintJson(context, *response);
    return kExitSuccess;
  }
  return Print(context, response->limits());
}

int RunLimits(const CommandContext& context, const LimitsFlags& flags) {
  if (!flags.api_budget.has_value() && !flags.max_bandwidth.has_value()) {
    if (!flags.worker.empty()) {
      return ReportUsageError("bimbackup",
                              absl::InvalidArgumentError("--worker needs "
                                                         "--max_bandwidth"));
    }
    return CallAndPrint(context, &Stub::GetLimits, v1::GetLimitsRequest());
  }
  v1::UpdateLimitsRequest request;
  if (flags.api_budget.has_value()) request.set_api_budget(*flags.api_budget);
  if (flags.max_bandwidth.has_value()) {
    const absl::StatusOr<int64_t> cap =
        *flags.max_bandwidth == "unlimited"
            ? 0
            : ParseBytesFlag(*flags.max_bandwidth);
    if (!cap.ok()) return ReportUsageError("bimbackup", cap.status());
    request.set_max_bandwidth(*cap);
  }
  request.set_worker_id(flags.worker);
  return CallAndPrint(context, &Stub::UpdateLimits, request);
}

}  // namespace

void AddLimitsCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "limits",
      "Show, or change while everything runs, what bounds a backup; changes "
      "hold until the coordinator restarts");
  const auto flags = std::make_shared<LimitsFlags>();
  command->add_option("--api_budget", flags->api_budget,
                      "Share of Autodesk's rates to use from now on, such as "
                      "50% or unlimited");
  command->add_option("--max_bandwidth", flags->max_bandwidth,
                      "Bytes a second of all workers together, such as 20MB, "
                      "or unlimited");
  command->add_option("--worker", flags->worker,
                      "The id of the worker that --max_bandwidth is for "
                      "instead; `bimbackup workers` shows it");
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunLimits(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
