// `backup` and `watch`.

#include <signal.h>
#include <unistd.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/progress.h"
#include "clients/cli/watch.h"
#include "services/common/clock.h"
#include "services/common/flags.h"
#include "services/common/random.h"

namespace bimbackup::cli {
namespace {

// Before a coordinator was heard of at all: long enough for one that is
// starting, short enough for a mistyped address.
constexpr absl::Duration kFirstPatience = absl::Seconds(10);

struct BackupFlags {
  v1::StartBackupRequest request;
  std::vector<std::string> projects;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool wait = false;
  std::string patience = "10m";
};

struct WatchFlags {
  std::string name;
  std::string patience = "10m";
};

// Only what is allowed in a signal handler.
void OnInterrupt(int) {
  static constexpr char kText[] =
      "\nbimbackup: the backup goes on; `bimbackup watch` follows it, "
      "`bimbackup cancel` ends it\n";
  (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(130);
}

void AddPatienceFlag(CLI::App& command, std::string& patience) {
  command
      .add_option("--patience", patience,
                  "How long to wait for a coordinator that went away")
      ->capture_default_str();
}

int Follow(const CommandContext& context, const CoordinatorClient& client,
           const std::string& name, absl::string_view patience_flag) {
  const absl::StatusOr<absl::Duration> patience =
      ParseDurationFlag(patience_flag);
  if (!patience.ok()) {
    return ReportUsageError("bimbackup", patience.status());
  }
  signal(SIGINT, OnInterrupt);
  signal(SIGTERM, OnInterrupt);
  const std::unique_ptr<Progress> progress =
      MakeProgress(context, client.clock());
  const absl::StatusOr<v1::Backup> backup =
      WatchToEnd(client, name, kFirstPatience, *patience, *progress);
  if (!backup.ok()) return ReportFailure(context, "watch", backup.status());
  progress->Finish(*backup);
  return ExitCodeOf(backup->state());
}

int RunBackup(const CommandContext& context, BackupFlags& flags) {
  SystemClock clock;
  SeededRandom random;
  const CoordinatorClient client(context.coordinator, clock);
  // A dry run's plan stands at its end.
  const bool wait = flags.wait || flags.request.validate_only();
  flags.request.set_request_id(random.NextUuid());
  v1::BackupFilter& filter = *flags.request.mutable_filter();
  *filter.mutable_projects() = {flags.projects.begin(), flags.projects.end()};
  *filter.mutable_include() = {flags.include.begin(), flags.include.end()};
  *filter.mutable_exclude() = {flags.exclude.begin(), flags.exclude.end()};
  const absl::StatusOr<v1::StartBackupResponse> started =
      client.CallPatiently(&v1::CoordinatorService::Stub::StartBackup,
                           flags.request, kFirstPatience);
  if (!started.ok()) {
    return ReportFailure(context, "backup", started.status());
  }
  if (context.json()) {
    PrintJson(context, *started);
  } else if (!wait) {
    *context.out << "started " << started->backup().name()
                 << "; `bimbackup watch` follows it\n";
  }
  if (!wait) return kExitSuccess;
  return Follow(context, client, started->backup().name(), flags.patience);
}

}  // namespace

void AddBackupCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand("backup", "Start a backup");
  const auto flags = std::make_shared<BackupFlags>();
  command->add_option("--project", flags->projects,
                      "Name or id of a project; all where none is given");
  command->add_option("--include", flags->include,
                      "Fetch only files whose path matches this glob, such as "
                      "'Tower*/**/*.rvt'");
  command->add_option("--exclude", flags->exclude,
                      "Leave out files and folders whose path matches");
  for (const char* name : {"--project", "--include", "--exclude"}) {
    // Else the option would swallow what follows it.
    command->get_option(name)->allow_extra_args(false);
  }
  command->add_flag_callback(
      "--dry-run", [flags] { flags->request.set_validate_only(true); },
      "Only list and plan, and print the plan at the end; write nothing to the "
      "storage");
  command->add_flag_callback(
      "--full-recheck", [flags] { flags->request.set_full_recheck(true); },
      "List every folder again, changed or not");
  command->add_flag("--wait", flags->wait,
                    "Follow it to its end, and end with its exit code: 0 "
                    "succeeded, 3 partial, 1 failed");
  AddPatienceFlag(*command, flags->patience);
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunBackup(context, *flags);
    };
  });
}

void AddWatchCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand("watch", "Follow a backup to its end");
  const auto flags = std::make_shared<WatchFlags>();
  command->add_option("backup", flags->name, "The newest where not given");
  AddPatienceFlag(*command, flags->patience);
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      SystemClock clock;
      const CoordinatorClient client(context.coordinator, clock);
      return Follow(context, client, ResourceName("backups", flags->name),
                    flags->patience);
    };
  });
}

}  // namespace bimbackup::cli
