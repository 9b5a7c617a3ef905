// How a verification is shown: a bar that is redrawn on a terminal, now and
// then a line elsewhere, a line for each damage, or the messages as JSON.

#ifndef CLIENTS_CLI_VERIFY_VERIFY_REPORT_H_
#define CLIENTS_CLI_VERIFY_VERIFY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "bimbackup/v1/snapshot.pb.h"
#include "clients/cli/command.h"
#include "services/common/clock.h"

namespace bimbackup::cli {

// Not thread-safe.
class VerifyReport {
 public:
  // Both outlive it. Offline, nothing is mended, and nothing is said of it.
  VerifyReport(const CommandContext& context, Clock& clock, bool offline)
      : context_(context), clock_(clock), offline_(offline) {}

  void Show(const v1::VerifySnapshotResponse& response);

  // Prints the summary of what was shown last; returns the exit code.
  int Finish();

  // Whether the last message has come.
  bool done() const { return latest_.done(); }

 private:
  void ShowProgress();
  void Clear();

  const CommandContext& context_;
  Clock& clock_;
  const bool offline_;
  // Without its damage.
  v1::VerifySnapshotResponse latest_;
  int64_t to_be_mended_ = 0;
  absl::Duration next_show_ = -absl::InfiniteDuration();
  bool drawn_ = false;
};

// One line for people, without its newline.
std::string RenderDamage(const v1::Damage& damage, bool offline);

// The progress as one line.
std::string RenderProgress(const v1::VerifySnapshotResponse& response);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_VERIFY_VERIFY_REPORT_H_
