// `scan`: a file's lines counted, or ways to read them measured, by a
// file-scan server.

#ifndef CLIENTS_CLI_SCAN_SCAN_COMMAND_H_
#define CLIENTS_CLI_SCAN_SCAN_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli {

// Adds the subcommand to `app`; parsing sets `chosen` where the user asked
// for it. Both outlive the parse.
void AddScanCommand(CLI::App& app, CommandAction& chosen);

namespace scan {

// What the user asked for. Enumerated values by their names in lower case,
// without the enum's prefix: "io_uring", "keep_views".
struct ScanOptions {
  // Relative to the server's root; a benchmark generates one when empty.
  std::string path;
  bool benchmark = false;
  absl::Duration deadline = absl::Hours(1);

  // Of a scan the first one each, of a benchmark all; empty for the default.
  std::vector<std::string> strategies;
  std::vector<int64_t> buffer_bytes;
  int threads = 0;

  // Of a scan only.
  int64_t start_offset = 0;
  int64_t max_line_bytes = 0;

  // Of a benchmark only. Without a matrix, it is the experiment that this
  // project started from: lines kept in a list, read blocking and awaited,
  // through small and large buffers.
  std::vector<std::string> works;
  int repetitions = 3;
  bool cold = false;
  int64_t corpus_bytes = 1'000'000'000;
  int mean_line_bytes = 80;
};

// Runs the command; returns its exit code. Prints progress to the terminal
// where there is one, and to the error stream otherwise.
int RunScan(const ScanOptions& options, const CommandContext& context);

}  // namespace scan
}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_SCAN_SCAN_COMMAND_H_
