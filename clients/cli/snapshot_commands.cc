// `snapshots` and `ls`.

#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/cli/commands.h"
#include "clients/cli/format.h"
#include "clients/cli/snapshot_lists.h"

namespace bimbackup::cli {
namespace {

int ReportFor(const CommandContext& context, const std::string& storage_url,
              absl::string_view what, const absl::Status& status) {
  return storage_url.empty() ? ReportFailure(context, what, status)
                             : ReportStorageFailure(context, what, status);
}

std::string StateOf(const v1::Snapshot& snapshot) {
  if (!snapshot.damage().empty()) return "DAMAGED";
  return absl::StrCat(StateName(snapshot.state()),
                      snapshot.is_protected() ? ", protected" : "");
}

int RunSnapshots(const CommandContext& context,
                 const std::string& storage_url) {
  Table table({"SNAPSHOT", "STATE", "STARTED", ">PROJECTS", ">FOLDERS",
               ">FILES", ">BYTES", ">INCOMPLETE"});
  const absl::Status status = ListSnapshots(
      context, storage_url, [&](const v1::ListSnapshotsResponse& page) {
        if (context.json()) PrintJson(context, page);
        for (const v1::Snapshot& snapshot : page.snapshots()) {
          table.AddRow(
              {snapshot.name(), StateOf(snapshot),
               HumanTime(snapshot.start_time()),
               HumanCount(snapshot.projects()), HumanCount(snapshot.folders()),
               HumanCount(snapshot.files()), HumanBytes(snapshot.bytes()),
               HumanCount(snapshot.incomplete())});
        }
        return true;
      });
  if (!status.ok()) {
    return ReportFor(context, storage_url, "snapshots", status);
  }
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

struct LsFlags {
  std::string snapshot;
  std::string glob;
  std::string storage_url;
};

int RunLs(const CommandContext& context, const LsFlags& flags) {
  v1::ListFilesRequest request;
  request.set_parent(SnapshotName(flags.snapshot));
  request.set_glob(flags.glob);
  request.set_page_size(1000);
  const absl::Status status =
      ListFiles(context, flags.storage_url, request,
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
  if (!status.ok()) return ReportFor(context, flags.storage_url, "ls", status);
  return kExitSuccess;
}

void AddStorageFlag(CLI::App& command, std::string& storage_url) {
  command.add_option("--storage", storage_url,
                     "Read file:///backup itself, without a coordinator");
}

}  // namespace

void AddSnapshotCommands(CLI::App& app, CommandAction& chosen) {
  CLI::App* snapshots =
      app.add_subcommand("snapshots", "List snapshots, newest first");
  const auto storage_url = std::make_shared<std::string>();
  AddStorageFlag(*snapshots, *storage_url);
  snapshots->callback([storage_url, &chosen] {
    chosen = [storage_url](const CommandContext& context) {
      return RunSnapshots(context, *storage_url);
    };
  });

  CLI::App* ls = app.add_subcommand("ls", "List what stands in a snapshot");
  const auto flags = std::make_shared<LsFlags>();
  ls->add_option("snapshot", flags->snapshot,
                 "snapshots/ID or ID; the newest where it is not given, - or "
                 "latest");
  ls->add_option("glob,--glob", flags->glob,
                 "Only what matches, such as 'Tower/**/*.rvt'");
  AddStorageFlag(*ls, flags->storage_url);
  ls->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunLs(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
