// What a restore says, as text and as JSON.

#ifndef CLIENTS_CLI_RESTORE_RESTORE_TEXT_H_
#define CLIENTS_CLI_RESTORE_RESTORE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/restore/restore_report.h"

namespace bimbackup::cli {

// How far a restore is.
struct RestoreState {
  int64_t files_done = 0;
  int64_t bytes_done = 0;
  // 0 where they are not known.
  int64_t files = 0;
  int64_t bytes = 0;
  absl::Duration elapsed;
};

// The lines that bars are drawn as.
std::vector<std::string> RenderRestoreBars(const RestoreState& state);

// The same as one line.
std::string RenderRestoreLine(const RestoreState& state);

// One file: "damaged  Tower/a.dwg: blob ... is missing".
std::string RenderOutcome(const restore::Outcome& outcome);

// What a restore came to, in several lines.
std::string RenderRestoreSummary(const restore::RestoreSummary& summary,
                                 bool dry_run, absl::string_view destination);

// One JSON object on one line, without its newline.
std::string OutcomeJson(const restore::Outcome& outcome);
std::string SummaryJson(const restore::RestoreSummary& summary, bool dry_run);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_RESTORE_RESTORE_TEXT_H_
