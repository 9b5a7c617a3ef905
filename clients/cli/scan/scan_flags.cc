#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "clients/cli/scan/scan_command.h"
#include "services/common/flags.h"

namespace bimbackup::cli {
namespace scan {
namespace {

// A byte size as flags take them, for CLI11.
int64_t ParseBytesOrThrow(const std::string& text) {
  const absl::StatusOr<int64_t> bytes = ParseBytesFlag(text);
  if (!bytes.ok() || *bytes > INT32_MAX) {
    throw CLI::ValidationError(bytes.ok()
                                   ? absl::StrCat(text, " is too much")
                                   : std::string(bytes.status().message()));
  }
  return *bytes;
}

void AddReadFlags(CLI::App& command, ScanOptions& options) {
  command
      .add_option("--strategy", options.strategies,
                  "blocking, async, io_uring, mmap or parallel; several, "
                  "with commas, for a benchmark")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--buffer",
          [&options](const std::vector<std::string>& sizes) {
            for (const std::string& size : sizes) {
              options.buffer_bytes.push_back(ParseBytesOrThrow(size));
            }
          },
          "Buffer size, such as 64KiB; several for a benchmark")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--threads", options.threads, "Threads of parallel");
  command.add_option("--offset", options.start_offset,
                     "The byte to start at; not for a benchmark");
  command.add_option("--max_line_bytes", options.max_line_bytes,
                     "The longest line allowed; not for a benchmark");
  command.add_option_function<std::string>(
      "--deadline",
      [&options](const std::string& text) {
        const absl::StatusOr<absl::Duration> deadline = ParseDurationFlag(text);
        if (!deadline.ok()) {
          throw CLI::ValidationError(std::string(deadline.status().message()));
        }
        options.deadline = *deadline;
      },
      "How long all may take (1h)");
}

void AddBenchmarkFlags(CLI::App& command, ScanOptions& options) {
  command.add_flag("--benchmark", options.benchmark,
                   "Measure ways to read FILE, or a file that the server "
                   "generates");
  command
      .add_option("--work", options.works,
                  "What to do with lines: count, view, keep, keep_views")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--repetitions", options.repetitions, "Measurements a row")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_flag("--cold", options.cold,
                   "Drop the file from the page cache before each");
  command.add_option_function<std::string>(
      "--corpus",
      [&options](const std::string& text) {
        const absl::StatusOr<int64_t> bytes = ParseBytesFlag(text);
        if (!bytes.ok()) {
          throw CLI::ValidationError(std::string(bytes.status().message()));
        }
        options.corpus_bytes = *bytes;
      },
      "Size of a generated file (1GB)");
  command
      .add_option("--mean_line", options.mean_line_bytes,
                  "Mean length of its lines, in bytes")
      ->capture_default_str();
}

}  // namespace
}  // namespace scan

void AddScanCommand(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = app.add_subcommand(
      "scan", "Count a file's lines, or measure ways to read them");
  const auto options = std::make_shared<scan::ScanOptions>();
  command->add_option("file", options->path,
                      "The file, relative to the server's root");
  scan::AddReadFlags(*command, *options);
  scan::AddBenchmarkFlags(*command, *options);
  command->callback([options, &chosen] {
    chosen = [options](const CommandContext& context) {
      return scan::RunScan(*options, context);
    };
  });
}

}  // namespace bimbackup::cli
