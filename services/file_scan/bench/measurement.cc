#include "services/file_scan/bench/measurement.h"

#include <fcntl.h>
#include <time.h>

#include <utility>

#include "services/common/status_macros.h"
#include "services/file_scan/bench/kept_lines.h"

namespace bimbackup::file_scan::bench {
namespace {

using reader::LineBatch;
using reader::LineReader;

absl::Duration ThreadCpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

// Calls visit(batch) with all batches of the file; returns the lines.
template <typename Visit>
absl::StatusOr<int64_t> ForEachBatch(LineReader& reader, Visit&& visit) {
  int64_t lines = 0;
  LineBatch batch;
  for (;;) {
    ABSL_ASSIGN_OR_RETURN(const bool more, reader.Next(batch));
    if (!more) return lines;
    lines += batch.size();
    visit(batch);
  }
}

// Where results go, so that what leads to them is not optimised away.
volatile uint64_t g_sink;

absl::StatusOr<int64_t> ViewLines(LineReader& reader) {
  uint64_t sum = 0;
  absl::StatusOr<int64_t> lines =
      ForEachBatch(reader, [&sum](const LineBatch& batch) {
        batch.ForEach([&sum](absl::string_view line) {
          sum += line.size();
          if (!line.empty()) sum ^= static_cast<unsigned char>(line[0]);
        });
      });
  g_sink = sum;
  return lines;
}

absl::StatusOr<int64_t> KeepLines(LineReader& reader, bool copies) {
  KeptLines kept;
  absl::StatusOr<int64_t> lines =
      ForEachBatch(reader, [&](const LineBatch& batch) {
        if (copies) {
          kept.AddCopies(batch);
        } else {
          kept.AddViews(batch, reader.Share());
        }
      });
  g_sink = kept.added();
  return lines;
}

absl::StatusOr<int64_t> DoWork(LineReader& reader, Work work) {
  switch (work) {
    case Work::kCount:
      break;
    case Work::kView:
      return ViewLines(reader);
    case Work::kKeep:
      return KeepLines(reader, /*copies=*/true);
    case Work::kKeepViews:
      return KeepLines(reader, /*copies=*/false);
  }
  ABSL_ASSIGN_OR_RETURN(const reader::LineCounts counts, reader.CountRest());
  return counts.lines;
}

// All measurements of one row.
absl::Status MeasureRow(std::shared_ptr<const reader::InputFile> file,
                        const Plan& plan, Clock& clock, Row& row) {
  reader::ReaderOptions options;
  options.strategy = row.strategy;
  options.buffer_bytes = row.buffer_bytes;
  options.threads = plan.threads;
  options.keep_going = plan.keep_going;
  std::vector<absl::Duration> samples;
  absl::Duration cpu;
  for (int i = plan.cold ? 0 : -1; i < plan.repetitions; ++i) {
    if (plan.cold) posix_fadvise(file->fd(), 0, 0, POSIX_FADV_DONTNEED);
    ABSL_ASSIGN_OR_RETURN(row.last, Measure(file, options, row.work, clock));
    if (i < 0) continue;
    samples.push_back(row.last.elapsed);
    cpu += row.last.cpu;
  }
  row.statistics = StatisticsOf(samples);
  row.mean_cpu = cpu / plan.repetitions;
  const double seconds = absl::ToDoubleSeconds(row.statistics.mean);
  if (seconds > 0) row.gigabytes_per_second = row.last.bytes / seconds / 1e9;
  return absl::OkStatus();
}

std::vector<Row> RowsOf(const Plan& plan) {
  std::vector<Row> rows;
  for (const reader::Strategy strategy : plan.strategies) {
    for (const int64_t buffer_bytes : plan.buffer_bytes) {
      for (const Work work : plan.works) {
        Row& row = rows.emplace_back();
        row.number = static_cast<int>(rows.size());
        row.strategy = strategy;
        row.buffer_bytes = buffer_bytes == 0
                               ? reader::DefaultBufferBytes(strategy)
                               : buffer_bytes;
        row.work = work;
      }
    }
  }
  for (Row& row : rows) row.rows = static_cast<int>(rows.size());
  return rows;
}

}  // namespace

absl::string_view WorkName(Work work) {
  switch (work) {
    case Work::kCount:
      return "count";
    case Work::kView:
      return "view";
    case Work::kKeep:
      return "keep";
    case Work::kKeepViews:
      return "keep views";
  }
  return "unknown";
}

absl::StatusOr<Measurement> Measure(
    std::shared_ptr<const reader::InputFile> file,
    const reader::ReaderOptions& options, Work work, Clock& clock) {
  const absl::Duration begin = clock.Monotonic();
  const absl::Duration cpu_begin = ThreadCpu();
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader,
                        OpenLineReader(std::move(file), options));
  Measurement result;
  ABSL_ASSIGN_OR_RETURN(result.lines, DoWork(*reader, work));
  const reader::ReadStats stats = reader->stats();
  result.bytes = reader->offset() - options.start_offset;
  result.reads = stats.reads;
  reader.reset();
  result.elapsed = clock.Monotonic() - begin;
  result.cpu = ThreadCpu() - cpu_begin + stats.helper_cpu;
  return result;
}

absl::Status RunPlan(std::shared_ptr<const reader::InputFile> file,
                     const Plan& plan, Clock& clock,
                     const std::function<bool(const Row&)>& done) {
  absl::Duration first;
  for (Row& row : RowsOf(plan)) {
    const absl::Status status = MeasureRow(file, plan, clock, row);
    if (absl::IsUnavailable(status)) {
      row.unavailable =
          std::string(status.message().data(), status.message().size());
    } else {
      ABSL_RETURN_IF_ERROR(status);
      if (first == absl::ZeroDuration()) first = row.statistics.mean;
      row.ratio = absl::FDivDuration(row.statistics.mean, first);
    }
    if (!done(row)) return absl::CancelledError("the benchmark was cancelled");
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::file_scan::bench
