#include "clients/cli/retention/forget_report.h"

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace bimbackup::cli {
namespace {

std::string Removed(const v1::ForgetSnapshotsResponse& response) {
  return absl::StrCat(HumanCount(response.snapshots_removed()), " snapshots, ",
                      HumanCount(response.manifests_removed()), " manifests, ",
                      HumanCount(response.blobs_removed()), " blobs of ",
                      HumanBytes(response.bytes_removed()));
}

std::string WhatBecomesOf(const v1::SnapshotDecision& decision, bool dry_run) {
  if (decision.kept()) return "stays";
  return dry_run ? "would go" : "goes";
}

}  // namespace

ForgetReport::ForgetReport(const CommandContext& context, bool dry_run)
    : context_(context),
      dry_run_(dry_run),
      table_({"SNAPSHOT", "STARTED", ">FILES", ">BYTES", "", "WHY"}) {}

void ForgetReport::Show(const v1::ForgetSnapshotsResponse& response) {
  if (context_.json()) {
    PrintJson(context_, response);
    return;
  }
  if (response.decisions_size() > 0) return AddDecisions(response);
  PrintDecisions();
  if (response.done()) {
    EndProgress();
    PrintSummary(response);
  } else if (context_.terminal) {
    *context_.out << "\r\x1b[K" << (dry_run_ ? "found " : "removed ")
                  << Removed(response) << std::flush;
    in_progress_ = true;
  }
}

void ForgetReport::AddDecisions(const v1::ForgetSnapshotsResponse& response) {
  for (const v1::SnapshotDecision& decision : response.decisions()) {
    const v1::Snapshot& snapshot = decision.snapshot();
    table_.AddRow({snapshot.name(), HumanTime(snapshot.start_time()),
                   HumanCount(snapshot.files()), HumanBytes(snapshot.bytes()),
                   WhatBecomesOf(decision, dry_run_),
                   absl::StrJoin(decision.reasons(), ", ")});
  }
  has_rows_ = true;
}

void ForgetReport::PrintDecisions() {
  if (!has_rows_) return;
  table_.Print(*context_.out);
  has_rows_ = false;
}

void ForgetReport::EndProgress() {
  if (in_progress_) *context_.out << "\r\x1b[K";
  in_progress_ = false;
}

void ForgetReport::PrintSummary(const v1::ForgetSnapshotsResponse& response) {
  *context_.out << (dry_run_ ? "would remove " : "removed ")
                << Removed(response);
  if (response.blobs_kept() > 0) {
    *context_.out << "; " << HumanCount(response.blobs_kept())
                  << " blobs stay, because the running backup or the catalog "
                     "may need them";
  }
  *context_.out << (dry_run_ ? "; nothing was removed\n" : "\n");
}

}  // namespace bimbackup::cli
