#include "clients/cli/restore/restore_progress.h"

#include <ostream>

namespace bimbackup::cli {
namespace {

using restore::Outcome;
using restore::OutcomeKind;

constexpr absl::Duration kBarPause = absl::Milliseconds(250);
constexpr absl::Duration kLinePause = absl::Seconds(10);

}  // namespace

RestoreProgress::RestoreProgress(const CommandContext& context, Clock& clock,
                                 bool dry_run)
    : context_(context),
      clock_(clock),
      dry_run_(dry_run),
      started_(clock.Monotonic()),
      next_show_(started_ + (context.terminal ? kBarPause : kLinePause)) {}

void RestoreProgress::OnTotals(int64_t files, int64_t bytes) {
  state_.files = files;
  state_.bytes = bytes;
}

void RestoreProgress::OnBytes(int64_t bytes) {
  state_.bytes_done += bytes;
  Show();
}

void RestoreProgress::OnOutcome(const Outcome& outcome) {
  if (outcome.kind != OutcomeKind::kRenamed) ++state_.files_done;
  if (context_.json()) {
    *context_.out << OutcomeJson(outcome) << "\n";
    return;
  }
  if (IsWorthALine(outcome)) {
    Clear();
    *context_.out << RenderOutcome(outcome) << "\n";
  }
  Show();
}

bool RestoreProgress::IsWorthALine(const Outcome& outcome) const {
  switch (outcome.kind) {
    case OutcomeKind::kUnchanged:
      return false;
    case OutcomeKind::kRestored:
      // It stands for another version, or is guarded.
      return dry_run_ || !outcome.message.empty();
    default:
      return true;
  }
}

void RestoreProgress::Show() {
  const absl::Duration now = clock_.Monotonic();
  if (context_.json() || now < next_show_) return;
  next_show_ = now + (context_.terminal ? kBarPause : kLinePause);
  state_.elapsed = now - started_;
  Clear();
  if (!context_.terminal) {
    *context_.out << RenderRestoreLine(state_) << std::endl;
    return;
  }
  const std::vector<std::string> lines = RenderRestoreBars(state_);
  for (const std::string& line : lines) *context_.out << line << "\n";
  *context_.out << std::flush;
  drawn_ = lines.size();
}

void RestoreProgress::Clear() {
  if (drawn_ > 0) *context_.out << "\x1b[" << drawn_ << "A\x1b[J";
  drawn_ = 0;
}

void RestoreProgress::Finish(const restore::RestoreSummary& summary,
                             absl::string_view destination) {
  Clear();
  if (context_.json()) {
    *context_.out << SummaryJson(summary, dry_run_) << "\n";
  } else {
    *context_.out << RenderRestoreSummary(summary, dry_run_, destination);
  }
  *context_.out << std::flush;
}

}  // namespace bimbackup::cli
