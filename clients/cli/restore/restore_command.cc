#include "clients/cli/restore/restore_command.h"

#include <sys/resource.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/restore/restore_progress.h"
#include "clients/cli/snapshot_lists.h"
#include "clients/restore/restore_engine.h"
#include "clients/restore/rpc/coordinator_source.h"
#include "clients/restore/storage_source.h"
#include "services/common/clock.h"
#include "services/common/status_macros.h"

namespace bimbackup::cli {
namespace {

using restore::EntryBatch;
using restore::Overwrite;
using restore::RestoreSource;
using restore::Selection;
using storage::format::EntryKind;

struct RestoreFlags {
  std::string snapshot;
  std::vector<std::string> paths;
  std::string item;
  std::string storage;
  restore::RestoreOptions options;
};

// A source with what it stands on.
struct OpenSource {
  std::unique_ptr<storage::Storage> storage;
  std::unique_ptr<CoordinatorClient> client;
  std::unique_ptr<RestoreSource> source;
};

absl::StatusOr<OpenSource> OpenFor(const CommandContext& context,
                                   const RestoreFlags& flags, Clock& clock) {
  OpenSource opened;
  if (flags.storage.empty()) {
    opened.client =
        std::make_unique<CoordinatorClient>(context.coordinator, clock);
    opened.source = std::make_unique<restore::CoordinatorSource>(
        opened.client->stub(), clock);
    return opened;
  }
  ABSL_ASSIGN_OR_RETURN(opened.storage, OpenStorageToRead(flags.storage));
  opened.source = std::make_unique<restore::StorageSource>(*opened.storage);
  return opened;
}

absl::Status NotOneFile(absl::string_view path) {
  return absl::InvalidArgumentError(
      absl::StrCat("--item: \"", path, "\" is not one file"));
}

// The item that a path leads to in a snapshot.
absl::StatusOr<std::string> ItemAt(RestoreSource& source,
                                   const std::string& snapshot_id,
                                   const std::string& path) {
  ABSL_ASSIGN_OR_RETURN(const auto stream,
                        source.ListEntries({snapshot_id, {path}, ""}));
  std::string item_id;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const EntryBatch batch, stream->Next());
    for (const storage::format::ManifestEntry& entry : batch.entries) {
      if (entry.kind != EntryKind::kFile || !item_id.empty()) {
        return NotOneFile(path);
      }
      item_id = entry.item_id;
    }
    if (!batch.last) continue;
    if (!item_id.empty()) return item_id;
    // Nothing was found because something is damaged.
    return absl::DataLossError(stream->damage().empty() ? "nothing was found"
                                                        : stream->damage()[0]);
  }
}

absl::StatusOr<Selection> Select(RestoreSource& source,
                                 const RestoreFlags& flags) {
  const std::string id =
      SnapshotName(flags.snapshot).substr(std::string("snapshots/").size());
  if (flags.item.empty()) return Selection{id, flags.paths, ""};
  if (!flags.paths.empty()) {
    return absl::InvalidArgumentError("--item goes with no paths");
  }
  // Ids of items hold no slash, paths do: a file lies in a project.
  if (!absl::StrContains(flags.item, "/")) {
    return Selection{"*", {}, flags.item};
  }
  ABSL_ASSIGN_OR_RETURN(std::string item_id, ItemAt(source, id, flags.item));
  return Selection{"*", {}, std::move(item_id)};
}

int ReportRestoreFailure(const CommandContext& context,
                         const RestoreFlags& flags,
                         const absl::Status& status) {
  if (!flags.storage.empty()) {
    return ReportStorageFailure(context, "restore", status);
  }
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) {
    return ReportFailure(context, "restore", status);
  }
  return ReportFailure(
      context, "restore",
      absl::Status(
          status.code(),
          absl::StrCat("cannot reach the coordinator at ",
                       context.coordinator.address, " (", status.message(),
                       "); the same command goes on from here")));
}

absl::Status SayHowToGoOn(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   "; make room, and the same command goes on from here"));
}

// All folders from the destination down to the current one are held open, and
// some dozens of files.
void AllowManyOpenFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int RunRestore(const CommandContext& context, const RestoreFlags& flags) {
  AllowManyOpenFiles();
  SystemClock clock;
  const absl::StatusOr<OpenSource> opened = OpenFor(context, flags, clock);
  if (!opened.ok()) {
    return ReportRestoreFailure(context, flags, opened.status());
  }
  const absl::StatusOr<Selection> selection = Select(*opened->source, flags);
  if (!selection.ok()) {
    return ReportRestoreFailure(context, flags, selection.status());
  }
  RestoreProgress progress(context, clock, flags.options.dry_run);
  restore::RestoreSummary summary;
  const absl::Status status = restore::Restore(
      *opened->source, *selection, flags.options, progress, summary);
  // Where nothing began, there is nothing to sum up.
  if (status.ok() || !summary.snapshot_id.empty()) {
    progress.Finish(summary, flags.options.destination);
  }
  if (!status.ok()) {
    return ReportRestoreFailure(context, flags, SayHowToGoOn(status));
  }
  return summary.whole() ? kExitSuccess : kExitPartial;
}

constexpr char kFooter[] =
    R"(PATH is "Project/Folder/File" in original names, or as it stands under
latest/, or a glob over the former: * and ? match within a name, ** any number
of folders, [a-z] a set; \ takes the next character as it is. A folder stands
for all it holds. Without PATH everything is restored.

Files go to DIR/Project/Folder/File with their original names and times, each
verified by its digest before it gets its name. What is damaged is named and
left out. A repeated command goes on where one was cut off: files in the making
are named .bimbackup-restore-*. Symbolic links below DIR are never followed.

--output=json prints one object a line. For each file:
  outcome        restored, unchanged, kept, no_content, damaged, failed, or
                 renamed (besides: it cannot have its original name here)
  localPath      where it is, within DIR
  projectName, path, itemId, versionNumber, size, sha256, lastModified, status,
  snapshot       what it is, as `ls` prints it
  message        what is wrong or special
and at the end {"summary": {...}} with the count of each outcome, bytes, and
damage: the manifests and snapshots that cannot be read.

Exit codes: 0 all is restored; 3 something is damaged or failed, the rest is
restored; 1 the restore ended early (no room, no permission, nothing found); 2
usage; 4 cannot reach the coordinator.)";

void AddFlags(CLI::App& command, RestoreFlags& flags) {
  command
      .add_option("snapshot", flags.snapshot,
                  "snapshots/ID or ID; - or latest for the newest")
      ->required();
  command.add_option("path", flags.paths, "What to restore");
  command
      .add_option("--to", flags.options.destination,
                  "The folder to restore into; made where it is missing")
      ->required();
  command
      .add_option_function<std::string>(
          "--overwrite",
          [&flags](const std::string& how) {
            flags.options.overwrite = how == "never" ? Overwrite::kNever
                                      : how == "always"
                                          ? Overwrite::kAlways
                                          : Overwrite::kIfDifferent;
          },
          "What happens to files that are there: never, if-different (the "
          "default: size and time, then bytes, are compared) or always")
      ->check(CLI::IsMember({"never", "if-different", "always"}));
  command.add_flag("--dry-run", flags.options.dry_run,
                   "Say what would be restored; write nothing");
  command.add_option("--item", flags.item,
                     "Every kept version of one file, over all snapshots, "
                     "side by side: its item id, or its path in SNAPSHOT");
  command.add_option("--storage", flags.storage,
                     "Restore from file:///backup itself, without a "
                     "coordinator; snapshots, manifests and blobs are enough");
  command.footer(kFooter);
}

}  // namespace

void AddRestoreCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "restore", "Bring files back from a snapshot into a folder");
  const auto flags = std::make_shared<RestoreFlags>();
  AddFlags(*command, *flags);
  command->callback([flags, &chosen] {
    chosen = [flags](const CommandContext& context) {
      return RunRestore(context, *flags);
    };
  });
}

}  // namespace bimbackup::cli
