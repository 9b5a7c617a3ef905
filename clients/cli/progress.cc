#include "clients/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <ostream>

#include "absl/strings/str_cat.h"
#include "clients/cli/format.h"

namespace bimbackup::cli {
namespace {

class JsonProgress : public Progress {
 public:
  explicit JsonProgress(const CommandContext& context) : context_(context) {}

  void Update(const v1::WatchBackupResponse& response) override {
    PrintJson(context_, response);
  }
  void Note(absl::string_view line) override {
    *context_.err << "bimbackup: " << line << "\n";
  }
  // The last update was the end already.
  void Finish(const v1::Backup&) override {}

 private:
  const CommandContext& context_;
};

// A line at every change of state or message, and one every ten seconds.
class LineProgress : public Progress {
 public:
  LineProgress(const CommandContext& context, Clock& clock)
      : context_(context), clock_(clock) {}

  void Update(const v1::WatchBackupResponse& response) override {
    const v1::Backup& backup = response.backup();
    const absl::Duration now = clock_.Monotonic();
    const bool changed =
        backup.state() != state_ || backup.message() != message_;
    if (!changed && now < next_line_) return;
    state_ = backup.state();
    message_ = backup.message();
    next_line_ = now + absl::Seconds(10);
    *context_.out << RenderLine(backup) << std::endl;
  }
  void Note(absl::string_view line) override {
    *context_.err << "bimbackup: " << line << std::endl;
  }
  void Finish(const v1::Backup& backup) override {
    *context_.out << RenderSummary(backup) << std::flush;
  }

 private:
  const CommandContext& context_;
  Clock& clock_;
  v1::BackupState state_ = v1::BACKUP_STATE_UNSPECIFIED;
  std::string message_;
  absl::Duration next_line_;
};

class BarProgress : public Progress {
 public:
  BarProgress(const CommandContext& context, Clock& clock)
      : context_(context), clock_(clock) {}

  void Update(const v1::WatchBackupResponse& response) override {
    const v1::Backup& backup = response.backup();
    const std::vector<std::string> lines =
        RenderBars(backup, clock_.Now() - FromProto(backup.create_time()),
                   TerminalWidth());
    std::string text = Rewind();
    for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
    *context_.out << text << std::flush;
    drawn_ = lines.size();
  }
  void Note(absl::string_view line) override {
    *context_.out << Rewind() << line << std::endl;
    drawn_ = 0;
  }
  void Finish(const v1::Backup& backup) override {
    *context_.out << Rewind() << RenderSummary(backup) << std::flush;
    drawn_ = 0;
  }

 private:
  // Back to the first line drawn, and everything below cleared.
  std::string Rewind() const {
    return drawn_ == 0 ? "" : absl::StrCat("\x1b[", drawn_, "A\x1b[J");
  }

  static size_t TerminalWidth() {
    winsize size{};
    const bool known =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
  }

  const CommandContext& context_;
  Clock& clock_;
  size_t drawn_ = 0;
};

}  // namespace

std::unique_ptr<Progress> MakeProgress(const CommandContext& context,
                                       Clock& clock) {
  if (context.json()) return std::make_unique<JsonProgress>(context);
  if (context.terminal) return std::make_unique<BarProgress>(context, clock);
  return std::make_unique<LineProgress>(context, clock);
}

}  // namespace bimbackup::cli
