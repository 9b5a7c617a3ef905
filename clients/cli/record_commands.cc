// `list`, `show`, `failures` and `cancel`.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/paging.h"
#include "clients/cli/progress.h"
#include "services/common/clock.h"

namespace bimbackup::cli {
namespace {

using Stub = v1::CoordinatorService::Stub;

std::string Took(const v1::Backup& backup, absl::Time now) {
  const absl::Time end =
      backup.has_end_time() ? FromProto(backup.end_time()) : now;
  return HumanDuration(end - FromProto(backup.create_time()));
}

void AddBackupRow(const v1::Backup& backup, absl::Time now, Table& table) {
  const v1::BackupProgress& p = backup.progress();
  table.AddRow({backup.name(), StateName(backup.state()),
                HumanTime(backup.create_time()), Took(backup, now),
                HumanCount(p.files()), HumanCount(p.transfers_stored()),
                HumanBytes(p.bytes_stored()),
                HumanCount(p.transfers_failed() + p.unlisted())});
}

int RunList(const CommandContext& context, int limit) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  Table table({"BACKUP", "STATE", "STARTED", ">TOOK", ">FILES", ">FETCHED",
               ">BYTES", ">FAILED"});
  v1::ListBackupsRequest request;
  request.set_page_size(std::min(limit, 1000));
  int left = limit;
  const absl::Status status =
      ForEachPage(client, &Stub::ListBackups, request,
                  [&](const v1::ListBackupsResponse& page) {
                    if (context.json()) PrintJson(context, page);
                    for (const v1::Backup& backup : page.backups()) {
                      if (left-- > 0) AddBackupRow(backup, clock.Now(), table);
                    }
                    return left > 0;
                  });
  if (!status.ok()) return ReportFailure(context, "list", status);
  if (!context.json()) table.Print(*context.out);
  return kExitSuccess;
}

// How much of what is named can be accepted.
struct Acceptable {
  int64_t deletions = 0;
  int64_t denied = 0;

  void Count(const v1::TransferRecord& record) {
    for (const int kind : record.acceptable()) {
      deletions += kind == v1::ACCEPT_KIND_DELETIONS;
      denied += kind == v1::ACCEPT_KIND_DENIED;
    }
  }
};

// Says which command ends what is not going to end by itself.
void PrintHints(const Acceptable& acceptable, std::ostream& out) {
  if (acceptable.deletions > 0) {
    out << HumanCount(acceptable.deletions)
        << " guarded; where the deletion is meant: `bimbackup accept - "
           "deletions [--project NAME]`\n";
  }
  if (acceptable.denied > 0) {
    out << HumanCount(acceptable.denied)
        << " forbidden; where that is to stay: `bimbackup accept - denied "
           "[--project NAME]`\n";
  }
}

int RunShow(const CommandContext& context, const std::string& name) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::GetBackupRequest request;
  request.set_name(ResourceName("backups", name));
  const absl::StatusOr<v1::GetBackupResponse> response =
      client.Call(&Stub::GetBackup, request);
  if (!response.ok()) return ReportFailure(context, "show", response.status());
  if (context.json()) {
    PrintJson(context, *response);
    return kExitSuccess;
  }
  const v1::Backup& backup = response->backup();
  *context.out << (HasEnded(backup.state()) ? RenderSummary(backup)
                                            : RenderLine(backup) + "\n")
               << "  started " << HumanTime(backup.create_time()) << ", ended "
               << HumanTime(backup.end_time()) << "\n";
  PrintHints({backup.progress().guarded(), backup.progress().denied()},
             *context.out);
  for (const auto& [kind, count] : backup.progress().api_calls()) {
    *context.out << "  API calls, " << kind << ": " << HumanCount(count)
                 << "\n";
  }
  return kExitSuccess;
}

std::string KindName(v1::TransferRecordKind kind) {
  switch (kind) {
    case v1::TRANSFER_RECORD_KIND_FILE:
      return "file";
    case v1::TRANSFER_RECORD_KIND_FOLDER:
      return "folder";
    case v1::TRANSFER_RECORD_KIND_PROJECT:
      return "project";
    default:
      return "?";
  }
}

void PrintRecord(const v1::TransferRecord& record, bool attempts,
                 std::ostream& out) {
  out << KindName(record.kind()) << "  "
      << DisplayPath(record.project_name(), record.path()) << ": "
      << Printable(record.reason()) << "\n";
  if (!attempts) return;
  for (const v1::TransferAttempt& attempt : record.attempts()) {
    out << "    " << HumanTime(attempt.end_time()) << "  "
        << (attempt.worker_id().empty() ? "coordinator" : attempt.worker_id())
        << "  " << v1::TransferOutcome_Name(attempt.outcome()) << "  HTTP "
        << attempt.http_status() << "  " << HumanBytes(attempt.bytes_received())
        << "  " << Printable(attempt.message())
        << (attempt.late() ? "  (late)" : "") << "\n";
  }
}

int RunFailures(const CommandContext& context, const std::string& name,
                bool attempts) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::ListTransfersRequest request;
  request.set_parent(ResourceName("backups", name));
  request.set_filter("failed");
  request.set_page_size(1000);
  int64_t count = 0;
  Acceptable acceptable;
  const absl::Status status =
      ForEachPage(client, &Stub::ListTransfers, request,
                  [&](const v1::ListTransfersResponse& page) {
                    count += page.transfers_size();
                    if (context.json()) {
                      PrintJson(context, page);
                      return true;
                    }
                    for (const v1::TransferRecord& record : page.transfers()) {
                      PrintRecord(record, attempts, *context.out);
                      acceptable.Count(record);
                    }
                    return true;
                  });
  if (!status.ok()) return ReportFailure(context, "failures", status);
  if (count == 0 && !context.json()) *context.out << "no failures\n";
  if (!context.json()) PrintHints(acceptable, *context.out);
  return kExitSuccess;
}

int RunCancel(const CommandContext& context, const std::string& name) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::CancelBackupRequest request;
  request.set_name(ResourceName("backups", name));
  const absl::StatusOr<v1::CancelBackupResponse> response =
      client.Call(&Stub::CancelBackup, request);
  if (!response.ok()) {
    return ReportFailure(context, "cancel", response.status());
  }
  if (context.json()) {
    PrintJson(context, *response);
  } else {
    *context.out << response->backup().name() << " "
                 << StateName(response->backup().state()) << "\n";
  }
  return kExitSuccess;
}

// A subcommand whose only argument is the name of a backup.
void AddNamedCommand(CLI::App& app, CommandAction& chosen, const char* name,
                     const char* description,
                     int (*run)(const CommandContext&, const std::string&)) {
  CLI::App* command = app.add_subcommand(name, description);
  const auto backup = std::make_shared<std::string>();
  command->add_option("backup", *backup,
                      "backups/ID or ID; the newest where not given");
  command->callback([backup, run, &chosen] {
    chosen = [backup, run](const CommandContext& context) {
      return run(context, *backup);
    };
  });
}

}  // namespace

void AddRecordCommands(CLI::App& app, CommandAction& chosen) {
  CLI::App* list = app.add_subcommand("list", "List backups, newest first");
  const auto limit = std::make_shared<int>(20);
  list->add_option("--limit", *limit, "How many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  list->callback([limit, &chosen] {
    chosen = [limit](const CommandContext& context) {
      return RunList(context, *limit);
    };
  });

  AddNamedCommand(app, chosen, "show", "Show one backup", RunShow);
  AddNamedCommand(app, chosen, "cancel", "End a running backup", RunCancel);

  CLI::App* failures = app.add_subcommand(
      "failures", "Name what a backup could not list or fetch, and why");
  const auto name = std::make_shared<std::string>();
  const auto attempts = std::make_shared<bool>(false);
  failures->add_option("backup", *name,
                       "backups/ID or ID; the newest where not given");
  failures->add_flag("--attempts", *attempts, "With every recorded attempt");
  failures->callback([name, attempts, &chosen] {
    chosen = [name, attempts](const CommandContext& context) {
      return RunFailures(context, *name, *attempts);
    };
  });
}

}  // namespace bimbackup::cli
