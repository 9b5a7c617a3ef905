// How a running backup is shown: bars that are redrawn on a terminal, now and
// then a line elsewhere, or the messages themselves as JSON.

#ifndef CLIENTS_CLI_PROGRESS_H_
#define CLIENTS_CLI_PROGRESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "clients/cli/command.h"
#include "services/common/clock.h"

namespace bimbackup::cli {

// Shows one backup. Not thread-safe.
class Progress {
 public:
  virtual ~Progress() = default;

  // The backup as it is now.
  virtual void Update(const v1::WatchBackupResponse& response) = 0;

  // One line that is not about the backup: a lost connection.
  virtual void Note(absl::string_view line) = 0;

  // Prints the summary of a backup that has ended.
  virtual void Finish(const v1::Backup& backup) = 0;
};

// The one that fits the context. Both outlive it.
std::unique_ptr<Progress> MakeProgress(const CommandContext& context,
                                       Clock& clock);

// The lines that bars are drawn as, each at most `width` characters wide.
std::vector<std::string> RenderBars(const v1::Backup& backup,
                                    absl::Duration elapsed, size_t width);

// The same as one line.
std::string RenderLine(const v1::Backup& backup);

// What a backup came to, in several lines.
std::string RenderSummary(const v1::Backup& backup);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_PROGRESS_H_
