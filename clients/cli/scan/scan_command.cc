#include "clients/cli/scan/scan_command.h"

#include <chrono>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bimbackup/v1/file_scan_service.grpc.pb.h"
#include "clients/cli/format.h"
#include "clients/cli/scan/benchmark_report.h"
#include "clients/cli/scan/scan_requests.h"
#include "grpcpp/grpcpp.h"
#include "services/common/rpc/channel.h"
#include "services/common/rpc/grpc_status.h"

namespace bimbackup::cli::scan {
namespace {

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

void SetDeadline(const ScanOptions& options, grpc::ClientContext& call) {
  call.set_deadline(std::chrono::system_clock::now() +
                    absl::ToChronoMicroseconds(options.deadline));
}

// The stream's status. UNAVAILABLE, which has an exit code of its own, only
// where the server could not be reached: a server that says so itself means
// that it cannot use io_uring.
absl::Status Explained(const grpc::Status& status,
                       const CommandContext& context, grpc::Channel& channel) {
  const absl::Status result = bimbackup::rpc::FromGrpcStatus(status);
  if (!absl::IsUnavailable(result)) return result;
  if (channel.GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY) {
    return absl::FailedPreconditionError(result.message());
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot reach file-scan at ", context.file_scan, ": ", result.message()));
}

std::shared_ptr<grpc::Channel> DialServer(const CommandContext& context) {
  return bimbackup::rpc::Dial(
      {context.file_scan, context.coordinator.credentials});
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
  const auto channel = DialServer(context);
  const auto stub = v1::FileScanService::NewStub(channel);
  const auto stream = stub->Scan(&call, *request);
  v1::ScanResponse response;
  {
    StatusLine line(context);
    while (stream->Read(&response)) {
      if (context.json()) PrintJson(context, response);
      if (!response.done() && progress) line.Show(ScanStatusText(response));
    }
  }
  const absl::Status status = Explained(stream->Finish(), context, *channel);
  if (!status.ok()) return ReportFailure(context, options.path, status);
  if (!context.json()) PrintCounts(options, response, *context.out);
  return kExitSuccess;
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
  const auto channel = DialServer(context);
  const auto stub = v1::FileScanService::NewStub(channel);
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
  const absl::Status status = Explained(stream->Finish(), context, *channel);
  if (!status.ok()) return ReportFailure(context, "scan", status);
  if (context.output == Output::kText) PrintTable(rows, *context.out);
  if (context.output == Output::kSvg) *context.out << TableSvg(rows);
  return kExitSuccess;
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

}  // namespace bimbackup::cli::scan
