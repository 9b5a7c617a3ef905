#include "services/file_scan/rpc/file_scan_service.h"

#include <time.h>

#include <optional>
#include <utility>

#include "grpcpp/support/method_handler.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/rpc/request_bounds.h"
#include "services/common/status_macros.h"
#include "services/file_scan/bench/measurement.h"
#include "services/file_scan/reader/line_batcher.h"
#include "services/file_scan/rpc/lines_message.h"
#include "services/file_scan/rpc/wire_options.h"

namespace bimbackup::file_scan::rpc {
namespace {

using bimbackup::rpc::ToGrpcStatus;

// The place of ReadLines in the proto file.
constexpr int kReadLinesIndex = 1;

absl::Status ClientGone() {
  return absl::CancelledError("the client went away");
}

absl::Duration ThreadCpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

// What a scan has cost and found, as messages.
class ScanReport {
 public:
  ScanReport(Clock& clock, int64_t file_bytes)
      : clock_(clock),
        begin_(clock.Monotonic()),
        cpu_begin_(ThreadCpu()),
        last_sent_(begin_),
        file_bytes_(file_bytes) {}

  bool IsDue(absl::Duration interval) {
    const absl::Duration now = clock_.Monotonic();
    if (now - last_sent_ < interval) return false;
    last_sent_ = now;
    return true;
  }

  v1::ScanResponse Message(const reader::LineCounts& counts,
                           const reader::ReadStats& stats, bool done) const {
    v1::ScanResponse response;
    response.set_done(done);
    response.set_lines(counts.lines);
    response.set_bytes(counts.bytes);
    response.set_longest_line_bytes(counts.longest_line);
    response.set_unterminated(done && counts.unterminated);
    *response.mutable_elapsed() = ToProto(clock_.Monotonic() - begin_);
    *response.mutable_cpu() =
        ToProto(ThreadCpu() - cpu_begin_ + stats.helper_cpu);
    response.set_reads(stats.reads);
    response.set_file_bytes(file_bytes_);
    return response;
  }

 private:
  Clock& clock_;
  const absl::Duration begin_;
  const absl::Duration cpu_begin_;
  absl::Duration last_sent_;
  const int64_t file_bytes_;
};

}  // namespace

FileScanServiceImpl::FileScanServiceImpl(
    std::unique_ptr<reader::RootFolder> root, const ServiceOptions& options,
    Clock& clock)
    : root_(std::move(root)),
      scratch_(options.scratch),
      clock_(clock),
      scans_(options.max_scans),
      benchmarks_(1) {
  MarkMethodStreamed(
      kReadLinesIndex,
      new grpc::internal::SplitServerStreamingHandler<v1::ReadLinesRequest,
                                                      grpc::ByteBuffer>(
          [this](grpc::ServerContext* context, LinesStream* stream) {
            return ReadRawLines(context, stream);
          }));
}

grpc::Status FileScanServiceImpl::Scan(
    grpc::ServerContext* context, const v1::ScanRequest* request,
    grpc::ServerWriter<v1::ScanResponse>* writer) {
  return ToGrpcStatus(DoScan(*context, *request, *writer));
}

grpc::Status FileScanServiceImpl::Benchmark(
    grpc::ServerContext* context, const v1::BenchmarkRequest* request,
    grpc::ServerWriter<v1::BenchmarkResponse>* writer) {
  return ToGrpcStatus(DoBenchmark(*context, *request, *writer));
}

grpc::Status FileScanServiceImpl::ReadRawLines(grpc::ServerContext* context,
                                               LinesStream* stream) {
  v1::ReadLinesRequest request;
  if (!stream->Read(&request)) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                        "the request is missing or malformed");
  }
  return ToGrpcStatus(DoReadLines(*context, request, *stream));
}

absl::Status FileScanServiceImpl::DoScan(
    grpc::ServerContext& context, const v1::ScanRequest& request,
    grpc::ServerWriter<v1::ScanResponse>& writer) {
  ABSL_RETURN_IF_ERROR(bimbackup::rpc::CheckRequest(request));
  ABSL_ASSIGN_OR_RETURN(
      reader::ReaderOptions options,
      ToReaderOptions(request.options(), request.start_offset()));
  ABSL_ASSIGN_OR_RETURN(const std::optional<absl::Duration> interval,
                        ToProgressInterval(request));
  ABSL_ASSIGN_OR_RETURN(const ScanSlots::Slot slot, scans_.Take("scans are"));
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const reader::InputFile> file,
                        root_->OpenFile(request.path()));
  ScanReport report(clock_, file->size());
  std::unique_ptr<reader::LineReader> reader;
  options.keep_going = [&](const reader::LineCounts& so_far) {
    if (context.IsCancelled()) return false;
    if (!interval.has_value() || !report.IsDue(*interval)) return true;
    return writer.Write(report.Message(so_far, reader->stats(), false));
  };
  ABSL_ASSIGN_OR_RETURN(reader, OpenLineReader(std::move(file), options));
  ABSL_ASSIGN_OR_RETURN(const reader::LineCounts counts, reader->CountRest());
  const bool written =
      writer.Write(report.Message(counts, reader->stats(), true));
  return written ? absl::OkStatus() : ClientGone();
}

absl::Status FileScanServiceImpl::DoReadLines(
    grpc::ServerContext& context, const v1::ReadLinesRequest& request,
    LinesStream& stream) {
  ABSL_RETURN_IF_ERROR(bimbackup::rpc::CheckRequest(request));
  ABSL_ASSIGN_OR_RETURN(
      reader::ReaderOptions options,
      ToReaderOptions(request.options(), request.start_offset()));
  ABSL_ASSIGN_OR_RETURN(const reader::BatcherOptions batcher_options,
                        ToBatcherOptions(request));
  ABSL_ASSIGN_OR_RETURN(const ScanSlots::Slot slot, scans_.Take("scans are"));
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const reader::InputFile> file,
                        root_->OpenFile(request.path()));
  options.keep_going = [&context](const reader::LineCounts&) {
    return !context.IsCancelled();
  };
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<reader::LineReader> reader,
                        OpenLineReader(std::move(file), options));
  reader::LineBatcher batcher(std::move(reader), batcher_options);
  for (bool end = false; !end;) {
    ABSL_ASSIGN_OR_RETURN(reader::CollectedLines lines, batcher.Next());
    end = lines.end;
    // Returns when the transport has taken the message, which it does not
    // while the client is slow: one message waits, and one is put together.
    if (!stream.Write(ToLinesMessage(std::move(lines)))) return ClientGone();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const reader::InputFile>>
FileScanServiceImpl::BenchmarkFile(const v1::BenchmarkRequest& request) const {
  if (request.has_path()) return root_->OpenFile(request.path());
  if (scratch_.empty()) {
    return absl::FailedPreconditionError(
        "this server has no --scratch folder to generate a corpus in; name a "
        "file under its root instead");
  }
  return bench::MakeCorpus(scratch_, ToCorpusSpec(request.corpus()));
}

absl::Status FileScanServiceImpl::DoBenchmark(
    grpc::ServerContext& context, const v1::BenchmarkRequest& request,
    grpc::ServerWriter<v1::BenchmarkResponse>& writer) {
  ABSL_RETURN_IF_ERROR(bimbackup::rpc::CheckRequest(request));
  ABSL_ASSIGN_OR_RETURN(bench::Plan plan, ToPlan(request));
  ABSL_ASSIGN_OR_RETURN(const ScanSlots::Slot scan, scans_.Take("scans are"));
  ABSL_ASSIGN_OR_RETURN(const ScanSlots::Slot slot,
                        benchmarks_.Take("benchmark is"));
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const reader::InputFile> file,
                        BenchmarkFile(request));
  plan.keep_going = [&context](const reader::LineCounts&) {
    return !context.IsCancelled();
  };
  return bench::RunPlan(std::move(file), plan, clock_,
                        [&writer](const bench::Row& row) {
                          return writer.Write(ToResponse(row));
                        });
}

}  // namespace bimbackup::file_scan::rpc
