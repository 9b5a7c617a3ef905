// The lists of CoordinatorService, and their page tokens.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"
#include "services/coordinator/rpc/coordinator_service.h"
#include "services/coordinator/rpc/page_token.h"

namespace bimbackup::coordinator_rpc {
namespace {

// Between the fields of a cursor: in no id.
constexpr char kSeparator = '\n';

// A page ends early with the record that goes over: clients take 4 MiB.
constexpr size_t kMaxPageBytes = size_t{1} << 20;

absl::StatusOr<int64_t> ReadNumber(absl::string_view text) {
  int64_t number = 0;
  if (text.empty()) return number;
  if (!absl::SimpleAtoi(text, &number)) {
    return absl::InvalidArgumentError("page_token: malformed");
  }
  return number;
}

absl::StatusOr<snapshots::EntryPosition> ReadPosition(
    const std::string& cursor) {
  const std::vector<std::string> parts = absl::StrSplit(cursor, kSeparator);
  if (parts.size() != 3) {
    return absl::InvalidArgumentError("page_token: malformed");
  }
  snapshots::EntryPosition position;
  position.snapshot_id = parts[0];
  ABSL_ASSIGN_OR_RETURN(position.project, ReadNumber(parts[1]));
  ABSL_ASSIGN_OR_RETURN(position.line, ReadNumber(parts[2]));
  return position;
}

// Where a page of transfers starts: within what was not listed, or behind it.
struct TransferCursor {
  bool in_transfers = false;
  std::string project_id;
  std::string folder_id;
  int64_t transfer_id = 0;
};

absl::StatusOr<TransferCursor> ReadTransferCursor(const std::string& text) {
  TransferCursor cursor;
  if (text.empty()) return cursor;
  const std::vector<std::string> parts = absl::StrSplit(text, kSeparator);
  if (parts.size() == 3 && parts[0] == "u") {
    cursor.project_id = parts[1];
    cursor.folder_id = parts[2];
    return cursor;
  }
  if (parts.size() != 2 || parts[0] != "t") {
    return absl::InvalidArgumentError("page_token: malformed");
  }
  cursor.in_transfers = true;
  ABSL_ASSIGN_OR_RETURN(cursor.transfer_id, ReadNumber(parts[1]));
  return cursor;
}

// Adds up to `limit` of what was not listed; returns the cursor of the next
// page, or nothing where all has been added.
absl::StatusOr<std::optional<std::string>> AddUnlisted(
    catalog::TreeStore& tree, const TransferCursor& cursor, int limit,
    v1::ListTransfersResponse& response) {
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<catalog::UnlistedRecord> unlisted,
      tree.ListUnlisted(cursor.project_id, cursor.folder_id, limit));
  for (const catalog::UnlistedRecord& record : unlisted) {
    *response.add_transfers() = ToProto(record);
  }
  if (static_cast<int>(unlisted.size()) < limit) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(
      absl::StrCat("u", std::string(1, kSeparator), unlisted.back().project_id,
                   std::string(1, kSeparator), unlisted.back().folder_id));
}

absl::Status AddAttempts(catalog::TransferStore& store, int64_t transfer_id,
                         v1::TransferRecord& added) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::AttemptRecord> attempts,
                        store.ListAttempts(transfer_id));
  for (const catalog::AttemptRecord& attempt : attempts) {
    *added.add_attempts() = ToProto(attempt);
  }
  return absl::OkStatus();
}

absl::Status AddTransfers(catalog::TransferStore& store,
                          catalog::BackupNumber backup, bool failed_only,
                          int64_t after, int limit, const std::string& scope,
                          v1::ListTransfersResponse& response) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<catalog::TransferRecord> transfers,
                        store.ListTransfers(backup, failed_only, after, limit));
  bool more = static_cast<int>(transfers.size()) == limit;
  size_t bytes = 0;
  for (const catalog::TransferRecord& transfer : transfers) {
    if (bytes >= kMaxPageBytes) {
      more = true;
      break;
    }
    v1::TransferRecord& added = *response.add_transfers();
    added = ToProto(transfer);
    if (transfer.attempts > 0) {
      ABSL_RETURN_IF_ERROR(AddAttempts(store, transfer.transfer_id, added));
    }
    bytes += added.ByteSizeLong();
    after = transfer.transfer_id;
  }
  if (more) {
    response.set_next_page_token(MakePageToken(
        scope, absl::StrCat("t", std::string(1, kSeparator), after)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CoordinatorServiceImpl::DoListBackups(
    const v1::ListBackupsRequest& request, v1::ListBackupsResponse& response) {
  constexpr absl::string_view kScope = "backups";
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  ABSL_ASSIGN_OR_RETURN(const std::string cursor,
                        ReadPageToken(kScope, request.page_token()));
  ABSL_ASSIGN_OR_RETURN(const int64_t before, ReadNumber(cursor));
  ABSL_ASSIGN_OR_RETURN(std::vector<catalog::BackupRecord> records,
                        catalog_.ListBackups(before, limit));
  if (static_cast<int>(records.size()) == limit && records.back().number > 1) {
    response.set_next_page_token(
        MakePageToken(kScope, absl::StrCat(records.back().number)));
  }
  for (catalog::BackupRecord& record : records) {
    ABSL_ASSIGN_OR_RETURN(const backup::BackupView view,
                          runner_.MakeView(std::move(record)));
    *response.add_backups() = ToProto(view);
  }
  return absl::OkStatus();
}

absl::Status CoordinatorServiceImpl::DoListTransfers(
    const v1::ListTransfersRequest& request,
    v1::ListTransfersResponse& response) {
  if (!request.filter().empty() && request.filter() != "failed") {
    return absl::InvalidArgumentError(absl::StrCat(
        "filter: \"", request.filter(), "\" is neither empty nor \"failed\""));
  }
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  const std::string scope =
      absl::StrCat("transfers ", request.parent(), " ", request.filter());
  ABSL_ASSIGN_OR_RETURN(const std::string token,
                        ReadPageToken(scope, request.page_token()));
  ABSL_ASSIGN_OR_RETURN(const TransferCursor cursor, ReadTransferCursor(token));
  ABSL_ASSIGN_OR_RETURN(const backup::BackupView view, Find(request.parent()));
  // The catalog knows what the newest backup could not list, and no other's.
  ABSL_ASSIGN_OR_RETURN(const auto newest, catalog_.ListBackups(0, 1));
  if (!cursor.in_transfers && newest[0].number == view.record.number) {
    ABSL_ASSIGN_OR_RETURN(const auto next,
                          AddUnlisted(catalog_, cursor, limit, response));
    if (next.has_value()) {
      response.set_next_page_token(MakePageToken(scope, *next));
      return absl::OkStatus();
    }
  }
  const int rest = limit - response.transfers_size();
  return AddTransfers(catalog_, view.record.number,
                      request.filter() == "failed", cursor.transfer_id, rest,
                      scope, response);
}

absl::Status CoordinatorServiceImpl::DoListSnapshots(
    const v1::ListSnapshotsRequest& request,
    v1::ListSnapshotsResponse& response) {
  constexpr absl::string_view kScope = "snapshots";
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  ABSL_ASSIGN_OR_RETURN(const std::string before,
                        ReadPageToken(kScope, request.page_token()));
  ABSL_ASSIGN_OR_RETURN(const snapshots::SnapshotPage page,
                        browser_.ListSnapshots(before, limit));
  for (const snapshots::ListedSnapshot& snapshot : page.snapshots) {
    *response.add_snapshots() = ToProto(snapshot);
  }
  if (!page.next_before.empty()) {
    response.set_next_page_token(MakePageToken(kScope, page.next_before));
  }
  return absl::OkStatus();
}

absl::Status CoordinatorServiceImpl::DoListFiles(
    const grpc::CallbackServerContext& context,
    const v1::ListFilesRequest& request, v1::ListFilesResponse& response) {
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  ABSL_ASSIGN_OR_RETURN(const std::string id,
                        ReadName("snapshots", request.parent()));
  const std::string scope =
      absl::StrCat("files ", request.parent(), " ", request.glob());
  ABSL_ASSIGN_OR_RETURN(const std::string cursor,
                        ReadPageToken(scope, request.page_token()));
  snapshots::EntryPosition start;
  if (cursor.empty()) {
    ABSL_ASSIGN_OR_RETURN(start.snapshot_id, browser_.Resolve(id));
  } else {
    ABSL_ASSIGN_OR_RETURN(start, ReadPosition(cursor));
  }
  std::optional<Glob> glob;
  if (!request.glob().empty()) {
    ABSL_ASSIGN_OR_RETURN(glob, Glob::Parse(request.glob()));
  }
  ABSL_ASSIGN_OR_RETURN(
      const snapshots::EntryPage page,
      browser_.ListEntries(start, glob.has_value() ? &*glob : nullptr, limit,
                           [&context] { return context.IsCancelled(); }));
  for (const storage::format::ManifestEntry& entry : page.entries) {
    *response.add_files() = ToProto(entry);
  }
  if (page.next.has_value()) {
    const std::string separator(1, kSeparator);
    response.set_next_page_token(MakePageToken(
        scope, absl::StrCat(page.next->snapshot_id, separator,
                            page.next->project, separator, page.next->line)));
  }
  return absl::OkStatus();
}

absl::Status CoordinatorServiceImpl::DoListWorkers(
    const v1::ListWorkersRequest& request, v1::ListWorkersResponse& response) {
  constexpr absl::string_view kScope = "workers";
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  ABSL_ASSIGN_OR_RETURN(const std::string after,
                        ReadPageToken(kScope, request.page_token()));
  for (const lease::WorkerInfo& worker : pool_.ListWorkers()) {
    if (worker.worker_id <= after) continue;
    if (response.workers_size() == limit) {
      response.set_next_page_token(
          MakePageToken(kScope, response.workers(limit - 1).worker_id()));
      break;
    }
    *response.add_workers() = ToProto(worker);
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::coordinator_rpc
