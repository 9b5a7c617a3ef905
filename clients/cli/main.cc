// The `bimbackup` command.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "CLI/CLI.hpp"
#include "clients/cli/command.h"
#include "clients/cli/commands.h"
#include "clients/cli/diff/diff_command.h"
#include "clients/cli/doctor/doctor_command.h"
#include "clients/cli/restore/restore_command.h"
#include "clients/cli/retention/retention_commands.h"
#include "clients/cli/verify/verify_command.h"
#include "services/common/flags.h"
#include "services/common/rpc/security.h"
#ifdef BIMBACKUP_HAVE_SCAN
#include "clients/cli/scan/scan_command.h"
#endif

namespace {

using bimbackup::cli::CommandAction;
using bimbackup::cli::CommandContext;
using bimbackup::cli::Output;

void AddGlobalFlags(CLI::App& app, CommandContext& context,
                    bimbackup::rpc::SecurityFlags& security) {
  app.add_option("--coordinator", context.coordinator.address,
                 "host:port of the coordinator")
      ->envname("BIMBACKUP_COORDINATOR")
      ->capture_default_str();
  app.add_option("--file_scan", context.file_scan,
                 "host:port of the file-scan server, for scan")
      ->envname("BIMBACKUP_FILE_SCAN")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--output",
         [&context](const std::string& name) {
           context.output = name == "json"  ? Output::kJson
                            : name == "svg" ? Output::kSvg
                                            : Output::kText;
         },
         "text, json (the messages, one a line) or, for scan, svg")
      ->check(CLI::IsMember({"text", "json", "svg"}));
  bimbackup::rpc::AddTlsFlags(app, security);
  app.set_version_flag("--version", BIMBACKUP_VERSION);
  app.require_subcommand(1);
  // So that these may follow the subcommand as well as come before it.
  app.fallthrough();
}

void AddCommands(CLI::App& app, CommandAction& chosen) {
  AddBackupCommand(app, chosen);
  AddWatchCommand(app, chosen);
  AddRecordCommands(app, chosen);
  AddAcceptCommand(app, chosen);
  AddWorkersCommand(app, chosen);
  AddSnapshotCommands(app, chosen);
  AddRestoreCommand(app, chosen);
  AddVerifyCommand(app, chosen);
  AddDiffCommand(app, chosen);
  AddForgetCommand(app, chosen);
  AddProtectCommand(app, chosen);
  AddRebuildLatestCommand(app, chosen);
  AddLimitsCommand(app, chosen);
  bimbackup::cli::doctor::AddDoctorCommand(app, chosen);
  AddHealthCommand(app, chosen);
#ifdef BIMBACKUP_HAVE_SCAN
  AddScanCommand(app, chosen);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that left ends the output, not with a signal but with an error.
  signal(SIGPIPE, SIG_IGN);
  // What gRPC has to say comes as a status.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  CLI::App app("Backs up an Autodesk BIM 360 / ACC account.", "bimbackup");
  app.footer(
      "Exit codes: 0 success, 3 partial, 1 failed, 2 usage, 4 cannot "
      "reach the server.");
  CommandContext context;
  context.coordinator.address = "127.0.0.1:50051";
  context.terminal = isatty(STDOUT_FILENO) == 1;
  context.out = &std::cout;
  context.err = &std::cerr;
  CommandAction chosen;
  bimbackup::rpc::SecurityFlags flags;
  AddGlobalFlags(app, context, flags);
  AddCommands(app, chosen);
  if (const auto code = bimbackup::ParseFlags(app, argc, argv)) return *code;
  const auto security = bimbackup::rpc::Security::Load(flags);
  if (!security.ok()) {
    return bimbackup::ReportUsageError("bimbackup", security.status());
  }
  context.coordinator.credentials = security->ForClient();
  return chosen(context);
}
