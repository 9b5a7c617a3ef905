#include "clients/cli/scan/scan_command.h"

#include <chrono>
#include <memory>
#include <ostream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bimbackup/v1/file_scan_service.grpc.pb.h"
#include "clients/cli/format.h"
#include "clients/cli/scan/benchmark_report.h"
#include "grpcpp/grpcpp.h"
#include "services/common/flags.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli {
namespace scan {
namespace {

constexpr absl::Duration kProgressInterval = absl::Milliseconds(500);

// What a benchmark measures unless told: the experiment that this project
// started from.
constexpr v1::LineReadStrategy kDefaultStrategies[] = {
    v1::LINE_READ_STRATEGY_BLOCKING, v1::LINE_READ_STRATEGY_ASYNC};
constexpr int32_t kDefaultBuffers[] = {1024, 64 << 10, 10'000'000};

// A line that is drawn over and over, on a terminal.
class StatusLine {
 public:
  explicit StatusLine(const CommandContext& context) : context_(context) {}
  ~StatusLine() { Clear(); }

  void Show(const std::string& text) {
    Clear();
    shown_ = true;
    *context_.err << text << std::flush;
  }

  void Clear() {
    if (shown_) *context_.err << "\r\x1b[K" << std::flush;
    shown_ = false;
  }

 private:
  const CommandContext& context_;
  bool shown_ = false;
};

// Fails with one line for a name that the enum does not have.
template <typename Enum>
absl::StatusOr<Enum> ParseName(absl::string_view prefix,
                               const std::string& name,
                               bool (*parse)(const std::string&, Enum*)) {
  Enum value{};
  if (!parse(absl::StrCat(prefix, absl::AsciiStrToUpper(name)), &value) ||
      value == Enum{}) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name, "\" is not known; see --help"));
  }
  return value;
}

absl::StatusOr<v1::LineReadStrategy> ParseStrategy(const std::string& name) {
  return ParseName<v1::LineReadStrategy>(
      "LINE_READ_STRATEGY_", name,
      [](const std::string& text, v1::LineReadStrategy* value) {
        return v1::LineReadStrategy_Parse(text, value);
      });
}

absl::StatusOr<v1::LineWork> ParseWork(const std::string& name) {
  return ParseName<v1::LineWork>(
      "LINE_WORK_", name, [](const std::string& text, v1::LineWork* value) {
        return v1::LineWork_Parse(text, value);
      });
}

std::unique_ptr<v1::FileScanService::Stub> Connect(const std::string& server) {
  return v1::FileScanService::NewStub(
      grpc::CreateChannel(server, grpc::InsecureChannelCredentials()));
}

void SetDeadline(const ScanOptions& options, grpc::ClientContext& call) {
  call.set_deadline(std::chrono::system_clock::now() +
                    absl::ToChronoMicroseconds(options.deadline));
}

// The stream's status, with the server's address where that cannot be
// reached.
absl::Status Explained(const grpc::Status& status, const ScanOptions& options) {
  const absl::Status result = bimbackup::rpc::FromGrpcStatus(status);
  if (!absl::IsUnavailable(result)) return result;
  return absl::UnavailableError(absl::StrCat(
      "cannot reach file-scan at ", options.server, ": ", result.message()));
}

absl::StatusOr<v1::ScanRequest> ScanRequestFrom(const ScanOptions& options,
                                                bool progress) {
  v1::ScanRequest request;
  request.set_path(options.path);
  request.set_start_offset(options.start_offset);
  v1::LineReadOptions& reading = *request.mutable_options();
  reading.set_threads(options.threads);
  reading.set_max_line_bytes(options.max_line_bytes);
  if (!options.buffer_bytes.empty()) {
    reading.set_buffer_bytes(static_cast<int32_t>(options.buffer_bytes[0]));
  }
  if (!options.strategies.empty()) {
    absl::StatusOr<v1::LineReadStrategy> strategy =
        ParseStrategy(options.strategies[0]);
    if (!strategy.ok()) return strategy.status();
    reading.set_strategy(*strategy);
  }
  if (progress) {
    request.mutable_progress_interval()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(kProgressInterval)));
  }
  return request;
}

double Seconds(const google::protobuf::Duration& duration) {
  return duration.seconds() + duration.nanos() / 1e9;
}

std::string ScanStatusText(const v1::ScanResponse& response) {
  const double share = response.file_bytes() > 0
                           ? 100.0 * response.bytes() / response.file_bytes()
                           : 100.0;
  const double rate = response.bytes() / Seconds(response.elapsed());
  // Of a compressed file only the compressed size is known.
  return share > 100
             ? absl::StrFormat("%s, %s/s", HumanBytes(response.bytes()),
                               HumanBytes(rate))
             : absl::StrFormat("%3.0f %%, %s lines, %s/s", share,
                               HumanCount(response.lines()), HumanBytes(rate));
}

void PrintCounts(const ScanOptions& options, const v1::ScanResponse& counts,
                 std::ostream& out) {
  const double seconds = Seconds(counts.elapsed());
  out << Printable(options.path) << "\n"
      << "  lines         " << HumanCount(counts.lines())
      << (counts.unterminated() ? ", the last one without its end" : "") << "\n"
      << "  bytes         " << HumanCount(counts.bytes()) << "\n"
      << "  longest line  " << HumanCount(counts.longest_line_bytes())
      << " bytes\n"
      << "  took          " << ShortTime(counts.elapsed()) << ", CPU "
      << ShortTime(counts.cpu()) << ", " << HumanCount(counts.reads())
      << " reads";
  if (seconds > 0) out << ", " << HumanBytes(counts.bytes() / seconds) << "/s";
  out << "\n";
}

int RunFileScan(const ScanOptions& options, const CommandContext& context) {
  const bool progress = context.terminal && !context.json();
  const auto request = ScanRequestFrom(options, progress);
  if (!request.ok()) return ReportFailure(context, "scan", request.status());
  grpc::ClientContext call;
  SetDeadline(options, call);
  const auto stub = Connect(options.server);
  const auto stream = stub->Scan(&call, *request);
  v1::ScanResponse response;
  {
    StatusLine line(context);
    while (stream->Read(&response)) {
      if (context.json()) PrintJson(context, response);
      if (!response.done() && progress) line.Show(ScanStatusText(response));
    }
  }
  const absl::Status status = Explained(stream->Finish(), options);
  if (!status.ok()) return ReportFailure(context, options.path, status);
  if (!context.json()) PrintCounts(options, response, *context.out);
  return kExitSuccess;
}

absl::Status FillMatrix(const ScanOptions& options,
                        v1::BenchmarkRequest& request) {
  for (const std::string& name : options.strategies) {
    absl::StatusOr<v1::LineReadStrategy> strategy = ParseStrategy(name);
    if (!strategy.ok()) return strategy.status();
    request.add_strategies(*strategy);
  }
  for (const std::string& name : options.works) {
    absl::StatusOr<v1::LineWork> work = ParseWork(name);
    if (!work.ok()) return work.status();
    request.add_works(*work);
  }
  for (const int64_t bytes : options.buffer_bytes) {
    request.add_buffer_bytes(static_cast<int32_t>(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::BenchmarkRequest> BenchmarkRequestFrom(
    const ScanOptions& options) {
  v1::BenchmarkRequest request;
  const absl::Status status = FillMatrix(options, request);
  if (!status.ok()) return status;
  if (request.strategies().empty()) {
    for (const auto strategy : kDefaultStrategies) {
      request.add_strategies(strategy);
    }
  }
  if (options.buffer_bytes.empty() && options.strategies.empty()) {
    for (const int32_t bytes : kDefaultBuffers) {
      request.add_buffer_bytes(bytes);
    }
  }
  if (request.works().empty()) request.add_works(v1::LINE_WORK_KEEP);
  request.set_repetitions(options.repetitions);
  request.set_threads(options.threads);
  request.set_cache(options.cold ? v1::CACHE_STATE_COLD : v1::CACHE_STATE_WARM);
  if (!options.path.empty()) {
    request.set_path(options.path);
  } else {
    request.mutable_corpus()->set_bytes(options.corpus_bytes);
    request.mutable_corpus()->set_mean_line_bytes(options.mean_line_bytes);
  }
  return request;
}

void ShowRow(const v1::BenchmarkResponse& row, const CommandContext& context,
             StatusLine& line) {
  if (context.json()) {
    PrintJson(context, row);
    return;
  }
  line.Clear();
  *context.err << RowLine(row) << "\n" << std::flush;
  if (context.terminal && row.row() < row.rows()) {
    line.Show(absl::StrFormat("measuring row %d of %d ...", row.row() + 1,
                              row.rows()));
  }
}

int RunBenchmark(const ScanOptions& options, const CommandContext& context) {
  const auto request = BenchmarkRequestFrom(options);
  if (!request.ok()) return ReportFailure(context, "scan", request.status());
  grpc::ClientContext call;
  SetDeadline(options, call);
  const auto stub = Connect(options.server);
  const auto stream = stub->Benchmark(&call, *request);
  std::vector<v1::BenchmarkResponse> rows;
  {
    StatusLine line(context);
    if (context.terminal && !context.json()) line.Show("measuring row 1 ...");
    v1::BenchmarkResponse row;
    while (stream->Read(&row)) {
      ShowRow(row, context, line);
      rows.push_back(row);
    }
  }
  const absl::Status status = Explained(stream->Finish(), options);
  if (!status.ok()) return ReportFailure(context, "scan", status);
  if (context.output == Output::kText) PrintTable(rows, *context.out);
  if (context.output == Output::kSvg) *context.out << TableSvg(rows);
  return kExitSuccess;
}

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
      .add_option("--file_scan", options.server,
                  "host:port of the file-scan server")
      ->envname("BIMBACKUP_FILE_SCAN")
      ->capture_default_str();
  command
      .add_option("--strategy", options.strategies,
                  "blocking, async, io_uring, mmap or parallel; several, "
                  "with commas, for a benchmark")
      ->delimiter(',');
  command
      .add_option_function<std::vector<std::string>>(
          "--buffer",
          [&options](const std::vector<std::string>& sizes) {
            for (const std::string& size : sizes) {
              options.buffer_bytes.push_back(ParseBytesOrThrow(size));
            }
          },
          "Buffer size, such as 64KiB; several for a benchmark")
      ->delimiter(',');
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
      ->delimiter(',');
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

int RunScan(const ScanOptions& options, const CommandContext& context) {
  if (options.benchmark) return RunBenchmark(options, context);
  if (options.path.empty()) {
    return ReportFailure(context, "scan",
                         absl::InvalidArgumentError(
                             "name a FILE, relative to the server's root, or "
                             "ask for a --benchmark"));
  }
  if (context.output == Output::kSvg) {
    return ReportFailure(
        context, "scan",
        absl::InvalidArgumentError("--output=svg is for a --benchmark"));
  }
  return RunFileScan(options, context);
}

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
