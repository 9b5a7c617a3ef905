// `accept`: what backups find night after night, and is meant.

#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "clients/cli/commands.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "services/common/clock.h"

namespace bimbackup::cli {
namespace {

using Stub = v1::CoordinatorService::Stub;

struct AcceptFlags {
  std::string backup;
  std::string kind;
  std::vector<std::string> projects;
};

std::string Describe(const v1::AcceptChangesResponse& response,
                     bool deletions) {
  if (response.projects() == 0) return "nothing to accept\n";
  const std::string where =
      " in " + HumanCount(response.projects()) +
      (response.projects() == 1 ? " project" : " projects");
  if (deletions) {
    return HumanCount(response.files()) + " files and " +
           HumanCount(response.folders()) + " folders" + where +
           " are gone from the next snapshot on\n";
  }
  return HumanCount(response.folders()) + " forbidden folders or projects" +
         where + " make no backup partial any more\n";
}

int RunAccept(const CommandContext& context, const AcceptFlags& flags) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  const bool deletions = flags.kind == "deletions";
  v1::AcceptChangesRequest request;
  request.set_name(ResourceName("backups", flags.backup));
  request.set_kind(deletions ? v1::ACCEPT_KIND_DELETIONS
                             : v1::ACCEPT_KIND_DENIED);
  request.mutable_projects()->Assign(flags.projects.begin(),
                                     flags.projects.end());
  const absl::StatusOr<v1::AcceptChangesResponse> response =
      client.Call(&Stub::AcceptChanges, request);
  if (!response.ok()) {
    return ReportFailure(context, "accept", response.status());
  }
  if (context.json()) {
    PrintJson(context, *response);
  } else {
    *context.out << Describe(*response, deletions);
  }
  return kExitSuccess;
}

}  // namespace

void AddAcceptCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* accept = app.add_subcommand(
      "accept",
      "Accept what a backup found: deletions that are meant, or folders that "
      "stay forbidden. `failures` says which there are");
  const auto flags = std::make_shared<AcceptFlags>();
  accept
      ->add_option("backup", flags->backup,
                   "backups/ID or ID of the newest backup, or -")
      ->required();
  accept
      ->add_option("kind", flags->kind,
                   "deletions: what stands guarded is gone from the next "
                   "snapshot on, older ones keep it; denied: folders that "
                   "answer 403 no longer make backups partial, and their "
                   "content stays as it was")
      ->required()
      ->check(CLI::IsMember({"deletions", "denied"}));
  accept->add_option("--project", flags->projects,
                     "Only in this project, by name or id; may be repeated");
  accept->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunAccept(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
