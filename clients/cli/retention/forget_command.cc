// `bimbackup forget`.

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/retention/forget_report.h"
#include "clients/cli/retention/retention_commands.h"
#include "clients/cli/snapshot_lists.h"
#include "clients/restore/rpc/stall_watch.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/flags.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli {
namespace {

// A sweep that waits for a backup to write its snapshot says nothing.
constexpr absl::Duration kPatience = absl::Minutes(30);

struct ForgetFlags {
  std::vector<std::string> snapshots;
  v1::ForgetSnapshotsRequest request;
  bool has_policy = false;
};

// What is wrong with the flags taken together; empty where nothing is.
std::string Complaint(const ForgetFlags& flags) {
  const bool has_names = !flags.snapshots.empty();
  const int given = (flags.has_policy ? 1 : 0) + (has_names ? 1 : 0) +
                    (flags.request.sweep_only() ? 1 : 0);
  if (given == 1) return "";
  if (given == 0) {
    return "forget: name snapshots, or say what to keep, such as --keep-daily "
           "7, or --sweep";
  }
  return "forget: snapshots, --keep-... and --sweep exclude each other";
}

// Shows every message; the call's status.
absl::Status Follow(const CommandContext& context, CoordinatorClient& client,
                    const v1::ForgetSnapshotsRequest& request,
                    ForgetReport& report) {
  restore::StallWatch watch(client.clock(), kPatience);
  grpc::ClientContext call;
  const auto reader = client.stub().ForgetSnapshots(&call, request);
  v1::ForgetSnapshotsResponse response;
  while (true) {
    restore::StallWatch::Wait wait(watch, call);
    if (!reader->Read(&response)) break;
    report.Show(response);
    if (!context.out->good()) call.TryCancel();
  }
  report.EndProgress();
  const absl::Status status = rpc::FromGrpcStatus(reader->Finish());
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(absl::StrCat("cannot reach the coordinator at ",
                                             client.target(), " (",
                                             status.message(), ")"));
}

int RunForget(const CommandContext& context, ForgetFlags& flags) {
  const std::string complaint = Complaint(flags);
  if (!complaint.empty()) {
    return ReportUsageError("bimbackup", absl::InvalidArgumentError(complaint));
  }
  for (const std::string& name : flags.snapshots) {
    flags.request.add_names(SnapshotName(name));
  }
  SystemClock clock;
  CoordinatorClient client(context.coordinator, clock);
  ForgetReport report(context, flags.request.validate_only());
  const absl::Status status = Follow(context, client, flags.request, report);
  if (!status.ok()) return ReportFailure(context, "forget", status);
  return kExitSuccess;
}

// What is wrong with how many to keep; empty where nothing is.
std::string CheckCount(const std::string& text) {
  int32_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 0) return "";
  return absl::StrCat("'", text, "' is no number of snapshots");
}

// --keep-NAME, also spelt as this project's flags are.
void AddKeepFlag(CLI::App& command, ForgetFlags& flags, const std::string& name,
                 void (v1::RetentionPolicy::*set)(int32_t),
                 const std::string& description) {
  command
      .add_option_function<int32_t>(
          absl::StrCat("--keep-", name, ",--keep_", name),
          [&flags, set](const int32_t& count) {
            (flags.request.mutable_policy()->*set)(count);
            flags.has_policy = flags.has_policy || count > 0;
          },
          description)
      ->check(CheckCount)
      ->type_name("N");
}

void AddPolicyFlags(CLI::App& command, ForgetFlags& flags) {
  using Policy = v1::RetentionPolicy;
  AddKeepFlag(command, flags, "last", &Policy::set_keep_last,
              "Keep the newest N");
  AddKeepFlag(command, flags, "daily", &Policy::set_keep_daily,
              "Keep the newest of each of the last N days that have one");
  AddKeepFlag(command, flags, "weekly", &Policy::set_keep_weekly,
              "The same by ISO weeks");
  AddKeepFlag(command, flags, "monthly", &Policy::set_keep_monthly,
              "The same by months");
  AddKeepFlag(command, flags, "yearly", &Policy::set_keep_yearly,
              "The same by years");
  command
      .add_option_function<std::string>(
          "--keep-within,--keep_within",
          [&flags](const std::string& span) {
            flags.request.mutable_policy()->set_keep_within(span);
            flags.has_policy = flags.has_policy || !span.empty();
          },
          "Keep all within this long before the newest, such as 1y6m10d12h")
      ->type_name("SPAN");
}

}  // namespace

void AddForgetCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "forget",
      "Remove snapshots, then what no other snapshot needs. The newest one, "
      "protected ones, and the last that holds a guarded entry stay");
  const auto flags = std::make_shared<ForgetFlags>();
  command->add_option("snapshot", flags->snapshots,
                      "snapshots/ID or ID: these go; instead of a policy");
  AddPolicyFlags(*command, *flags);
  command->add_flag_callback(
      "--dry-run,--dry_run",
      [flags] { flags->request.set_validate_only(true); },
      "Say what would go; remove nothing");
  command->add_flag_callback(
      "--sweep", [flags] { flags->request.set_sweep_only(true); },
      "Forget none; only remove what no snapshot needs, as an interrupted call "
      "leaves it");
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunForget(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
