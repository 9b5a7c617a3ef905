#include "services/coordinator/rpc/accept_call.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"

namespace bimbackup::coordinator_rpc {
namespace {

absl::Status CheckNewest(backup::BackupRunner& runner,
                         const std::string& name) {
  ABSL_ASSIGN_OR_RETURN(const std::string id, ReadName("backups", name));
  ABSL_ASSIGN_OR_RETURN(const backup::BackupView named, runner.GetBackup(id));
  ABSL_ASSIGN_OR_RETURN(const backup::BackupView newest, runner.GetBackup("-"));
  if (named.record.number == newest.record.number) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("only what the newest backup found can be accepted, that is "
                   "backups/",
                   newest.record.id));
}

}  // namespace

absl::Status AcceptChanges(backup::BackupRunner& runner,
                           catalog::AcceptStore& store,
                           const v1::AcceptChangesRequest& request,
                           v1::AcceptChangesResponse& response) {
  if (request.kind() != v1::ACCEPT_KIND_DELETIONS &&
      request.kind() != v1::ACCEPT_KIND_DENIED) {
    return absl::InvalidArgumentError(
        "kind: neither deletions nor denied is asked for");
  }
  ABSL_RETURN_IF_ERROR(CheckNewest(runner, request.name()));
  const std::vector<std::string> projects(request.projects().begin(),
                                          request.projects().end());
  const bool deletions = request.kind() == v1::ACCEPT_KIND_DELETIONS;
  ABSL_ASSIGN_OR_RETURN(const catalog::Accepted accepted,
                        deletions ? store.AcceptDeletions(projects)
                                  : store.AcceptDenied(projects));
  spdlog::info("accepted {}: {} files, {} folders in {} projects",
               deletions ? "deletions" : "denied", accepted.files,
               accepted.folders, accepted.projects);
  response.set_files(accepted.files);
  response.set_folders(accepted.folders);
  response.set_projects(accepted.projects);
  return absl::OkStatus();
}

}  // namespace bimbackup::coordinator_rpc
