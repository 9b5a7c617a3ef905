#include "clients/cli/diff/diff_command.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/snapshot_lists.h"
#include "clients/snapshot_diff/snapshot_diff.h"
#include "clients/snapshot_diff/wire/change_messages.h"
#include "grpcpp/grpcpp.h"
#include "services/common/clock.h"
#include "services/common/glob.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/status_macros.h"

namespace bimbackup::cli {
namespace {

constexpr int kPageSize = 1000;
// For one page: the first of a project waits until its manifests are read.
constexpr absl::Duration kPageDeadline = absl::Minutes(10);

struct DiffFlags {
  std::string from;
  std::string to;
  std::string glob;
  std::string storage_url;
};

// Takes a page; false where no other is wanted.
using OnPage = std::function<bool(const v1::DiffSnapshotsResponse&)>;

std::string PathOf(const v1::FileEntry& entry) {
  return absl::StrCat(DisplayPath(entry.project_name(), entry.path()),
                      entry.kind() == "folder" ? "/" : "");
}

std::string LineOf(const v1::EntryChange& change) {
  switch (change.kind()) {
    case v1::CHANGE_KIND_ADDED:
      return "+ " + PathOf(change.after());
    case v1::CHANGE_KIND_CHANGED:
      return "M " + PathOf(change.after());
    case v1::CHANGE_KIND_MOVED:
      return absl::StrCat("> ", PathOf(change.before()), " -> ",
                          PathOf(change.after()));
    case v1::CHANGE_KIND_REMOVED:
      return "- " + PathOf(change.before());
    default:
      return "?";
  }
}

absl::Status PagesOfCoordinator(const CommandContext& context,
                                v1::DiffSnapshotsRequest request,
                                const OnPage& on_page) {
  SystemClock clock;
  const CoordinatorClient client(context.coordinator, clock);
  while (true) {
    grpc::ClientContext call;
    call.set_deadline(absl::ToChronoTime(absl::Now() + kPageDeadline));
    v1::DiffSnapshotsResponse page;
    const absl::Status status =
        rpc::FromGrpcStatus(client.stub().DiffSnapshots(&call, request, &page));
    if (absl::IsUnavailable(status)) {
      return absl::UnavailableError(
          absl::StrCat("cannot reach the coordinator at ", client.target(),
                       " (", status.message(), ")"));
    }
    ABSL_RETURN_IF_ERROR(status);
    if (!on_page(page) || page.next_page_token().empty()) {
      return absl::OkStatus();
    }
    if (page.next_page_token() == request.page_token()) {
      return absl::DataLossError("the list does not end");
    }
    request.set_page_token(page.next_page_token());
  }
}

std::string IdOf(const std::string& name) {
  return std::string(absl::StripPrefix(name, "snapshots/"));
}

absl::Status PagesOfStorage(const std::string& url,
                            const v1::DiffSnapshotsRequest& request,
                            const OnPage& on_page) {
  SystemClock clock;
  ABSL_ASSIGN_OR_RETURN(const auto storage, OpenStorageToRead(url));
  std::optional<Glob> glob;
  if (!request.glob().empty()) {
    ABSL_ASSIGN_OR_RETURN(glob, Glob::Parse(request.glob()));
  }
  snapshot_diff::SnapshotDiff diff(
      *storage, clock, std::filesystem::temp_directory_path().string());
  ABSL_ASSIGN_OR_RETURN(const snapshot_diff::DiffPosition begin,
                        diff.Begin(IdOf(request.from()), IdOf(request.to())));
  std::optional<snapshot_diff::DiffPosition> next = begin;
  while (next.has_value()) {
    ABSL_ASSIGN_OR_RETURN(
        const snapshot_diff::DiffPage page,
        diff.ListChanges(*next, glob.has_value() ? &*glob : nullptr, kPageSize,
                         [] { return false; }));
    v1::DiffSnapshotsResponse response;
    response.set_from(absl::StrCat("snapshots/", begin.from_id));
    response.set_to(absl::StrCat("snapshots/", begin.to_id));
    for (const snapshot_diff::Change& change : page.changes) {
      *response.add_changes() = snapshot_diff::ToProto(change);
    }
    if (!on_page(response)) break;
    next = page.next;
  }
  return absl::OkStatus();
}

int RunDiff(const CommandContext& context, const DiffFlags& flags) {
  v1::DiffSnapshotsRequest request;
  if (!flags.from.empty()) request.set_from(SnapshotName(flags.from));
  request.set_to(SnapshotName(flags.to));
  request.set_glob(flags.glob);
  request.set_page_size(kPageSize);
  const OnPage show = [&](const v1::DiffSnapshotsResponse& page) {
    if (context.json()) {
      PrintJson(context, page);
    } else {
      for (const v1::EntryChange& change : page.changes()) {
        *context.out << LineOf(change) << "\n";
      }
    }
    // A reader that left (`| head`) needs no further page.
    return context.out->good();
  };
  if (flags.storage_url.empty()) {
    const absl::Status status = PagesOfCoordinator(context, request, show);
    return status.ok() ? kExitSuccess : ReportFailure(context, "diff", status);
  }
  const absl::Status status = PagesOfStorage(flags.storage_url, request, show);
  return status.ok() ? kExitSuccess
                     : ReportStorageFailure(context, "diff", status);
}

}  // namespace

void AddDiffCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "diff",
      "Say what differs between two snapshots: + added, M changed, > moved, "
      "- removed");
  const auto flags = std::make_shared<DiffFlags>();
  command->add_option("from", flags->from,
                      "snapshots/ID or ID; the one before TO where it is not "
                      "given");
  command->add_option("to", flags->to,
                      "snapshots/ID or ID; the newest where it is not given");
  command->add_option("glob,--glob", flags->glob,
                      "Only what matches before or after, such as "
                      "'Tower/**/*.rvt'");
  command->add_option("--storage", flags->storage_url,
                      "Read file:///backup itself, without a coordinator");
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunDiff(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
