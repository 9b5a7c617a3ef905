#include "services/coordinator/rpc/diff_call.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "clients/snapshot_diff/wire/change_messages.h"
#include "services/common/glob.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"
#include "services/coordinator/rpc/page_token.h"

namespace bimbackup::coordinator_rpc {
namespace {

using snapshot_diff::DiffPosition;

// Between the fields of a cursor: in no id.
constexpr char kSeparator[] = "\n";

absl::StatusOr<DiffPosition> ReadPosition(const std::string& cursor) {
  const std::vector<std::string> parts = absl::StrSplit(cursor, kSeparator);
  DiffPosition position;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[3], &position.change)) {
    return absl::InvalidArgumentError("page_token: malformed");
  }
  position.from_id = parts[0];
  position.to_id = parts[1];
  position.project_id = parts[2];
  return position;
}

std::string WritePosition(const DiffPosition& position) {
  return absl::StrJoin(std::make_tuple(position.from_id, position.to_id,
                                       position.project_id, position.change),
                       kSeparator);
}

}  // namespace

absl::StatusOr<DiffPosition> DiffCall::Begin(
    const v1::DiffSnapshotsRequest& request) {
  std::string from;
  std::string to;
  if (!request.from().empty()) {
    ABSL_ASSIGN_OR_RETURN(from, ReadName("snapshots", request.from()));
  }
  if (!request.to().empty()) {
    ABSL_ASSIGN_OR_RETURN(to, ReadName("snapshots", request.to()));
  }
  return diff_.Begin(from, to);
}

absl::Status DiffCall::DiffSnapshots(const v1::DiffSnapshotsRequest& request,
                                     const std::function<bool()>& cancelled,
                                     v1::DiffSnapshotsResponse& response) {
  const std::string scope = absl::StrCat("diff ", request.from(), " ",
                                         request.to(), " ", request.glob());
  ABSL_ASSIGN_OR_RETURN(const int limit, ReadPageSize(request.page_size()));
  ABSL_ASSIGN_OR_RETURN(const std::string cursor,
                        ReadPageToken(scope, request.page_token()));
  std::optional<Glob> glob;
  if (!request.glob().empty()) {
    ABSL_ASSIGN_OR_RETURN(glob, Glob::Parse(request.glob()));
  }
  absl::StatusOr<DiffPosition> start =
      cursor.empty() ? Begin(request) : ReadPosition(cursor);
  ABSL_RETURN_IF_ERROR(start.status());
  ABSL_ASSIGN_OR_RETURN(
      const snapshot_diff::DiffPage page,
      diff_.ListChanges(*start, glob.has_value() ? &*glob : nullptr, limit,
                        cancelled));
  response.set_from(absl::StrCat("snapshots/", start->from_id));
  response.set_to(absl::StrCat("snapshots/", start->to_id));
  for (const snapshot_diff::Change& change : page.changes) {
    *response.add_changes() = snapshot_diff::ToProto(change);
  }
  if (page.next.has_value()) {
    response.set_next_page_token(
        MakePageToken(scope, WritePosition(*page.next)));
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::coordinator_rpc
