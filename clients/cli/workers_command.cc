// `workers`.

#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
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

}  // namespace

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

}  // namespace bimbackup::cli
