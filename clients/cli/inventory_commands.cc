// `workers`, `snapshots` and `ls`.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/paging.h"
#include "services/common/clock.h"

namespace bimbackup::cli {
namespace {

using Stub = v1::CoordinatorService::Stub;

std::string WorkerState(const v1::Worker& worker) {
  if (!worker.storage_problem().empty()) {
    return Printable(worker.storage_problem());
  }
  return worker.draining() ? "draining" : "ok";
}

int RunWorkers(const CommandContext& context) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  Table table({"WORKER", "WHERE", "VERSION", ">SEEN", ">LEASES", ">FREE",
               ">STORED", ">RECEIVED", "STATE"});
  const absl::Status status = ForEachPage(
      client, &Stub::ListWorkers, v1::ListWorkersRequest(),
      [&](const v1::ListWorkersResponse& page) {
        if (context.json()) PrintJson(context, page);
        for (const v1::Worker& worker : page.workers()) {
          const absl::Duration ago =
              clock.Now() - FromProto(worker.last_seen_time());
          table.AddRow(
              {worker.worker_id(), Printable(worker.display_name()),
               worker.version(), absl::StrCat(HumanDuration(ago), " ago"),
               HumanCount(worker.leases()), HumanCount(worker.free_slots()),
               HumanCount(worker.stored_count()),
               HumanBytes(worker.bytes_received()), WorkerState(worker)});
        }
        return true;
      });
  if (!status.ok()) return ReportFailure(context, "workers", status);
  if (!context.json()) table.Print(*context.out);
  return kExitSuccess;
}

int RunDrain(const CommandContext& context, const std::string& worker_id) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::DrainWorkerRequest request;
  request.set_worker_id(worker_id);
  const absl::StatusOr<v1::DrainWorkerResponse> response =
      client.Call(&Stub::DrainWorker, request);
  if (!response.ok()) return ReportFailure(context, "drain", response.status());
  if (context.json()) {
    PrintJson(context, *response);
  } else {
    *context.out << worker_id << " drains; it holds "
                 << HumanCount(response->worker().leases()) << " transfers\n";
  }
  return kExitSuccess;
}

int RunSnapshots(const CommandContext& context) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  Table table({"SNAPSHOT", "STATE", "STARTED", ">PROJECTS", ">FOLDERS",
               ">FILES", ">BYTES", ">INCOMPLETE"});
  const absl::Status status = ForEachPage(
      client, &Stub::ListSnapshots, v1::ListSnapshotsRequest(),
      [&](const v1::ListSnapshotsResponse& page) {
        if (context.json()) PrintJson(context, page);
        for (const v1::Snapshot& snapshot : page.snapshots()) {
          table.AddRow(
              {snapshot.name(), StateName(snapshot.state()),
               HumanTime(snapshot.start_time()),
               HumanCount(snapshot.projects()), HumanCount(snapshot.folders()),
               HumanCount(snapshot.files()), HumanBytes(snapshot.bytes()),
               HumanCount(snapshot.incomplete())});
        }
        return true;
      });
  if (!status.ok()) return ReportFailure(context, "snapshots", status);
  if (!context.json()) table.Print(*context.out);
  return kExitSuccess;
}

// Fixed columns, because a snapshot may hold ten million entries.
void PrintEntry(const v1::FileEntry& entry, std::ostream& out) {
  const bool folder = entry.kind() == "folder";
  std::string line = absl::StrFormat(
      "%10s  %-19s  %-10s  %s%s",
      folder ? "" : (entry.has_size() ? HumanBytes(entry.size()) : "?"),
      HumanTime(entry.last_modified()), entry.status(),
      DisplayPath(entry.project_name(), entry.path()), folder ? "/" : "");
  if (!entry.reason().empty()) {
    absl::StrAppend(&line, "  (", Printable(entry.reason()), ")");
  }
  out << line << "\n";
}

int RunLs(const CommandContext& context, const std::string& snapshot,
          const std::string& glob) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  v1::ListFilesRequest request;
  request.set_parent(ResourceName("snapshots", snapshot));
  request.set_glob(glob);
  request.set_page_size(1000);
  const absl::Status status =
      ForEachPage(client, &Stub::ListFiles, request,
                  [&](const v1::ListFilesResponse& page) {
                    if (context.json()) {
                      PrintJson(context, page);
                      return true;
                    }
                    for (const v1::FileEntry& entry : page.files()) {
                      PrintEntry(entry, *context.out);
                    }
                    // A reader that left (`| head`) needs no further page.
                    return context.out->good();
                  });
  if (!status.ok()) return ReportFailure(context, "ls", status);
  return kExitSuccess;
}

void AddWorkersCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* workers = app.add_subcommand("workers", "List download workers");
  CLI::App* drain = workers->add_subcommand(
      "drain", "Let a worker finish what it holds, and end");
  // Runs after the callback of `drain`, which has chosen then.
  workers->callback([drain, &chosen] {
    if (!drain->parsed()) chosen = RunWorkers;
  });
  const auto worker_id = std::make_shared<std::string>();
  drain->add_option("worker", *worker_id, "As `workers` lists it")->required();
  drain->callback([worker_id, &chosen] {
    chosen = [worker_id](const CommandContext& context) {
      return RunDrain(context, *worker_id);
    };
  });
}

}  // namespace

void AddInventoryCommands(CLI::App& app, CommandAction& chosen) {
  AddWorkersCommand(app, chosen);

  app.add_subcommand("snapshots", "List snapshots, newest first")
      ->callback([&chosen] { chosen = RunSnapshots; });

  CLI::App* ls = app.add_subcommand("ls", "List what stands in a snapshot");
  const auto snapshot = std::make_shared<std::string>();
  const auto glob = std::make_shared<std::string>();
  ls->add_option("snapshot", *snapshot,
                 "snapshots/ID or ID; the newest where not given");
  ls->add_option("--glob", *glob,
                 "Only what matches, such as 'Tower/**/*.rvt'");
  ls->callback([snapshot, glob, &chosen] {
    chosen = [snapshot, glob](const CommandContext& context) {
      return RunLs(context, *snapshot, *glob);
    };
  });
}

}  // namespace bimbackup::cli
