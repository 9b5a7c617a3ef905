#include "services/file_scan/rpc/wire_options.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::rpc {
namespace {

constexpr int32_t kDefaultBatchBytes = 256 << 10;
constexpr int32_t kMaxBatchBytes = 4 << 20;
constexpr int kDefaultThreads = 2;
constexpr int kDefaultRepetitions = 5;
constexpr int kMaxRepetitions = 100;
constexpr int kMaxRows = 1000;
constexpr absl::Duration kLeastProgressInterval = absl::Milliseconds(10);

absl::Status OutOfItsRange(absl::string_view field, int64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is out of its range: ", value));
}

absl::StatusOr<reader::Strategy> ToStrategy(int wire) {
  switch (wire) {
    case v1::LINE_READ_STRATEGY_BLOCKING:
      return reader::Strategy::kBlocking;
    case v1::LINE_READ_STRATEGY_ASYNC:
      return reader::Strategy::kAsync;
    case v1::LINE_READ_STRATEGY_IO_URING:
      return reader::Strategy::kIoUring;
    case v1::LINE_READ_STRATEGY_UNSPECIFIED:
    case v1::LINE_READ_STRATEGY_MMAP:
      return reader::Strategy::kMmap;
    case v1::LINE_READ_STRATEGY_PARALLEL:
      return reader::Strategy::kParallel;
    default:
      return OutOfItsRange("strategy", wire);
  }
}

v1::LineReadStrategy ToWire(reader::Strategy strategy) {
  switch (strategy) {
    case reader::Strategy::kBlocking:
      return v1::LINE_READ_STRATEGY_BLOCKING;
    case reader::Strategy::kAsync:
      return v1::LINE_READ_STRATEGY_ASYNC;
    case reader::Strategy::kIoUring:
      return v1::LINE_READ_STRATEGY_IO_URING;
    case reader::Strategy::kMmap:
      return v1::LINE_READ_STRATEGY_MMAP;
    case reader::Strategy::kParallel:
      return v1::LINE_READ_STRATEGY_PARALLEL;
  }
  return v1::LINE_READ_STRATEGY_UNSPECIFIED;
}

absl::StatusOr<reader::Decompression> ToDecompression(int wire) {
  switch (wire) {
    case v1::LINE_DECOMPRESSION_UNSPECIFIED:
      return reader::Decompression::kByName;
    case v1::LINE_DECOMPRESSION_NONE:
      return reader::Decompression::kNone;
    case v1::LINE_DECOMPRESSION_ZSTD:
      return reader::Decompression::kZstd;
    default:
      return OutOfItsRange("decompression", wire);
  }
}

absl::StatusOr<bench::Work> ToWork(int wire) {
  switch (wire) {
    case v1::LINE_WORK_UNSPECIFIED:
    case v1::LINE_WORK_COUNT:
      return bench::Work::kCount;
    case v1::LINE_WORK_VIEW:
      return bench::Work::kView;
    case v1::LINE_WORK_KEEP:
      return bench::Work::kKeep;
    case v1::LINE_WORK_KEEP_VIEWS:
      return bench::Work::kKeepViews;
    default:
      return OutOfItsRange("works", wire);
  }
}

v1::LineWork ToWire(bench::Work work) {
  switch (work) {
    case bench::Work::kCount:
      return v1::LINE_WORK_COUNT;
    case bench::Work::kView:
      return v1::LINE_WORK_VIEW;
    case bench::Work::kKeep:
      return v1::LINE_WORK_KEEP;
    case bench::Work::kKeepViews:
      return v1::LINE_WORK_KEEP_VIEWS;
  }
  return v1::LINE_WORK_UNSPECIFIED;
}

absl::Status FillMatrix(const v1::BenchmarkRequest& request,
                        bench::Plan& plan) {
  for (const int wire : request.strategies()) {
    ABSL_ASSIGN_OR_RETURN(plan.strategies.emplace_back(), ToStrategy(wire));
  }
  if (plan.strategies.empty()) {
    plan.strategies = {reader::Strategy::kBlocking, reader::Strategy::kAsync,
                       reader::Strategy::kIoUring, reader::Strategy::kMmap,
                       reader::Strategy::kParallel};
  }
  plan.buffer_bytes.assign(request.buffer_bytes().begin(),
                           request.buffer_bytes().end());
  if (plan.buffer_bytes.empty()) plan.buffer_bytes = {0};
  for (const int wire : request.works()) {
    ABSL_ASSIGN_OR_RETURN(plan.works.emplace_back(), ToWork(wire));
  }
  if (plan.works.empty()) plan.works = {bench::Work::kCount};
  const size_t rows =
      plan.strategies.size() * plan.buffer_bytes.size() * plan.works.size();
  return rows > kMaxRows ? OutOfItsRange("the number of rows", rows)
                         : absl::OkStatus();
}

}  // namespace

absl::StatusOr<reader::ReaderOptions> ToReaderOptions(
    const v1::LineReadOptions& options, int64_t start_offset) {
  reader::ReaderOptions result;
  ABSL_ASSIGN_OR_RETURN(result.strategy, ToStrategy(options.strategy()));
  ABSL_ASSIGN_OR_RETURN(result.decompression,
                        ToDecompression(options.decompression()));
  result.buffer_bytes = options.buffer_bytes();
  if (options.threads() != 0) result.threads = options.threads();
  if (options.max_line_bytes() != 0) {
    result.max_line_bytes = options.max_line_bytes();
  }
  result.drop_byte_order_mark = options.drop_byte_order_mark();
  result.start_offset = start_offset;
  return result;
}

absl::StatusOr<reader::BatcherOptions> ToBatcherOptions(
    const v1::ReadLinesRequest& request) {
  reader::BatcherOptions result;
  result.batch_bytes =
      request.batch_bytes() == 0 ? kDefaultBatchBytes : request.batch_bytes();
  if (result.batch_bytes < 1 || result.batch_bytes > kMaxBatchBytes) {
    return OutOfItsRange("batch_bytes", request.batch_bytes());
  }
  if (request.contains().find('\n') != std::string::npos) {
    return absl::InvalidArgumentError("contains holds a line feed");
  }
  if (request.max_lines() < 0) {
    return OutOfItsRange("max_lines", request.max_lines());
  }
  result.contains = request.contains();
  result.max_lines = request.max_lines();
  result.lengths = !request.omit_line_lengths();
  return result;
}

absl::StatusOr<bench::Plan> ToPlan(const v1::BenchmarkRequest& request) {
  bench::Plan plan;
  ABSL_RETURN_IF_ERROR(FillMatrix(request, plan));
  plan.repetitions =
      request.repetitions() == 0 ? kDefaultRepetitions : request.repetitions();
  if (plan.repetitions < 1 || plan.repetitions > kMaxRepetitions) {
    return OutOfItsRange("repetitions", request.repetitions());
  }
  plan.threads = request.threads() == 0 ? kDefaultThreads : request.threads();
  plan.cold = request.cache() == v1::CACHE_STATE_COLD;
  return plan;
}

bench::CorpusSpec ToCorpusSpec(const v1::GeneratedCorpus& corpus) {
  bench::CorpusSpec spec;
  if (corpus.bytes() != 0) spec.bytes = corpus.bytes();
  if (corpus.mean_line_bytes() != 0) {
    spec.mean_line_bytes = corpus.mean_line_bytes();
  }
  spec.seed = corpus.seed();
  return spec;
}

v1::BenchmarkResponse ToResponse(const bench::Row& row) {
  v1::BenchmarkResponse response;
  response.set_row(row.number);
  response.set_rows(row.rows);
  response.set_strategy(ToWire(row.strategy));
  response.set_buffer_bytes(static_cast<int32_t>(row.buffer_bytes));
  response.set_work(ToWire(row.work));
  response.set_unavailable(row.unavailable);
  if (!row.unavailable.empty()) return response;
  response.set_lines(row.last.lines);
  response.set_bytes(row.last.bytes);
  response.set_reads(row.last.reads);
  *response.mutable_mean() = ToProto(row.statistics.mean);
  if (row.statistics.error.has_value()) {
    *response.mutable_error() = ToProto(*row.statistics.error);
  }
  if (row.statistics.standard_deviation.has_value()) {
    *response.mutable_standard_deviation() =
        ToProto(*row.statistics.standard_deviation);
  }
  *response.mutable_min() = ToProto(row.statistics.min);
  *response.mutable_max() = ToProto(row.statistics.max);
  *response.mutable_cpu() = ToProto(row.mean_cpu);
  response.set_gigabytes_per_second(row.gigabytes_per_second);
  response.set_ratio(row.ratio);
  return response;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration result;
  result.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  result.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return result;
}

absl::StatusOr<std::optional<absl::Duration>> ToProgressInterval(
    const v1::ScanRequest& request) {
  if (!request.has_progress_interval()) return std::nullopt;
  const google::protobuf::Duration& wire = request.progress_interval();
  const absl::Duration interval =
      absl::Seconds(wire.seconds()) + absl::Nanoseconds(wire.nanos());
  if (interval < kLeastProgressInterval) {
    return absl::InvalidArgumentError("progress_interval is under 10 ms");
  }
  return interval;
}

}  // namespace bimbackup::file_scan::rpc
