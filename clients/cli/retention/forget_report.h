// What people see of ForgetSnapshots.

#ifndef CLIENTS_CLI_RETENTION_FORGET_REPORT_H_
#define CLIENTS_CLI_RETENTION_FORGET_REPORT_H_

#include "bimbackup/v1/snapshot.pb.h"
#include "clients/cli/command.h"
#include "clients/cli/format.h"

namespace bimbackup::cli {

// A table of what stays and why, and what goes; then how far it is, on a
// terminal; then what has come of it. Not thread-safe.
class ForgetReport {
 public:
  // `context` outlives the report.
  ForgetReport(const CommandContext& context, bool dry_run);

  void Show(const v1::ForgetSnapshotsResponse& response);

  // Ends the line that is being redrawn.
  void EndProgress();

 private:
  void AddDecisions(const v1::ForgetSnapshotsResponse& response);
  void PrintDecisions();
  void PrintSummary(const v1::ForgetSnapshotsResponse& response);

  const CommandContext& context_;
  const bool dry_run_;
  Table table_;
  bool has_rows_ = false;
  bool in_progress_ = false;
};

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_RETENTION_FORGET_REPORT_H_
