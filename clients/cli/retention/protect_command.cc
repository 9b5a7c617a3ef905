// `bimbackup protect`.

#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/retention/retention_commands.h"
#include "clients/cli/snapshot_lists.h"
#include "services/common/clock.h"

namespace bimbackup::cli {
namespace {

int RunProtect(const CommandContext& context, const std::string& snapshot,
               bool off) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::ProtectSnapshotRequest request;
  request.set_name(SnapshotName(snapshot));
  request.set_is_protected(!off);
  const absl::StatusOr<v1::ProtectSnapshotResponse> response =
      client.Call(&v1::CoordinatorService::Stub::ProtectSnapshot, request);
  if (!response.ok()) {
    return ReportFailure(context, "protect", response.status());
  }
  if (context.json()) {
    PrintJson(context, *response);
  } else {
    *context.out << response->snapshot().name()
                 << (response->snapshot().is_protected()
                         ? " is protected\n"
                         : " is no longer protected\n");
  }
  return kExitSuccess;
}

}  // namespace

void AddProtectCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "protect", "Keep a snapshot from being forgotten, whatever the policy");
  const auto snapshot = std::make_shared<std::string>();
  const auto off = std::make_shared<bool>(false);
  command
      ->add_option("snapshot", *snapshot,
                   "snapshots/ID or ID; - or latest for the newest")
      ->required();
  command->add_flag("--off", *off, "End its protection");
  command->callback([snapshot, off, &chosen] {
    chosen = [snapshot, off](const CommandContext& context) {
      return RunProtect(context, *snapshot, *off);
    };
  });
}

}  // namespace bimbackup::cli
