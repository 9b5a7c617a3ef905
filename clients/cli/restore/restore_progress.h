// How a running restore is shown: bars that are redrawn on a terminal, now
// and then a line elsewhere, or every outcome as JSON.

#ifndef CLIENTS_CLI_RESTORE_RESTORE_PROGRESS_H_
#define CLIENTS_CLI_RESTORE_RESTORE_PROGRESS_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "clients/cli/command.h"
#include "clients/cli/restore/restore_text.h"
#include "clients/restore/restore_report.h"
#include "services/common/clock.h"

namespace bimbackup::cli {

// Told by the engine, one call at a time; Finish() after the last of them.
class RestoreProgress : public restore::RestoreObserver {
 public:
  // Both outlive it. A dry run lists every file.
  RestoreProgress(const CommandContext& context, Clock& clock, bool dry_run);

  void OnTotals(int64_t files, int64_t bytes) override;
  void OnBytes(int64_t bytes) override;
  void OnOutcome(const restore::Outcome& outcome) override;

  // Prints the summary.
  void Finish(const restore::RestoreSummary& summary,
              absl::string_view destination);

 private:
  bool IsWorthALine(const restore::Outcome& outcome) const;
  // Draws bars or a line, where it is time for that.
  void Show();
  // Removes the bars, so that lines can take their place.
  void Clear();

  const CommandContext& context_;
  Clock& clock_;
  const bool dry_run_;
  const absl::Duration started_;
  RestoreState state_;
  absl::Duration next_show_;
  size_t drawn_ = 0;
};

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_RESTORE_RESTORE_PROGRESS_H_
