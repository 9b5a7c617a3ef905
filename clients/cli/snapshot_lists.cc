#include "clients/cli/snapshot_lists.h"

#include <optional>

#include "absl/strings/strip.h"
#include "clients/cli/coordinator_client.h"
#include "clients/cli/format.h"
#include "clients/cli/paging.h"
#include "clients/snapshots/snapshot_browser.h"
#include "clients/snapshots/wire/snapshot_messages.h"
#include "services/common/clock.h"
#include "services/common/flags.h"
#include "services/common/glob.h"
#include "services/common/status_macros.h"

namespace bimbackup::cli {
namespace {

using Stub = v1::CoordinatorService::Stub;

constexpr int kPageSize = 1000;

bool NeverCancelled() { return false; }

}  // namespace

std::string SnapshotName(absl::string_view name) {
  if (name == "latest" || name == "snapshots/latest") name = "-";
  return ResourceName("snapshots", name);
}

absl::StatusOr<std::unique_ptr<storage::Storage>> OpenStorageToRead(
    const std::string& url) {
  storage::OpenOptions options;
  options.url = url;
  options.read_only = true;
  return storage::OpenStorage(options);
}

int ReportStorageFailure(const CommandContext& context, absl::string_view what,
                         const absl::Status& status) {
  const int code = ReportFailure(context, what, status);
  return code == kExitUsage ? kExitUsage : kExitFailed;
}

absl::Status ListSnapshots(
    const CommandContext& context, const std::string& storage_url,
    const std::function<bool(const v1::ListSnapshotsResponse&)>& on_page) {
  SystemClock clock;
  if (storage_url.empty()) {
    const CoordinatorClient client(context.coordinator, clock);
    return ForEachPage(client, &Stub::ListSnapshots, v1::ListSnapshotsRequest(),
                       on_page);
  }
  ABSL_ASSIGN_OR_RETURN(const auto storage, OpenStorageToRead(storage_url));
  snapshots::SnapshotBrowser browser(*storage, clock);
  std::string before;
  do {
    ABSL_ASSIGN_OR_RETURN(const snapshots::SnapshotPage page,
                          browser.ListSnapshots(before, kPageSize));
    v1::ListSnapshotsResponse response;
    for (const snapshots::ListedSnapshot& listed : page.snapshots) {
      *response.add_snapshots() = snapshots::ToProto(listed);
    }
    if (!on_page(response)) break;
    before = page.next_before;
  } while (!before.empty());
  return absl::OkStatus();
}

absl::Status ListFiles(
    const CommandContext& context, const std::string& storage_url,
    const v1::ListFilesRequest& request,
    const std::function<bool(const v1::ListFilesResponse&)>& on_page) {
  SystemClock clock;
  if (storage_url.empty()) {
    const CoordinatorClient client(context.coordinator, clock);
    return ForEachPage(client, &Stub::ListFiles, request, on_page);
  }
  ABSL_ASSIGN_OR_RETURN(const auto storage, OpenStorageToRead(storage_url));
  std::optional<Glob> glob;
  if (!request.glob().empty()) {
    ABSL_ASSIGN_OR_RETURN(glob, Glob::Parse(request.glob()));
  }
  snapshots::SnapshotBrowser browser(*storage, clock);
  absl::string_view id = request.parent();
  absl::ConsumePrefix(&id, "snapshots/");
  std::optional<snapshots::EntryPosition> next(std::in_place);
  ABSL_ASSIGN_OR_RETURN(next->snapshot_id, browser.Resolve(id));
  while (next.has_value()) {
    ABSL_ASSIGN_OR_RETURN(
        const snapshots::EntryPage page,
        browser.ListEntries(*next, glob.has_value() ? &*glob : nullptr,
                            kPageSize, NeverCancelled));
    v1::ListFilesResponse response;
    for (const storage::format::ManifestEntry& entry : page.entries) {
      *response.add_files() = snapshots::ToProto(entry);
    }
    if (!on_page(response)) break;
    next = page.next;
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::cli
