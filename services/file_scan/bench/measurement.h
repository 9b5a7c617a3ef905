// One measured pass over a file, and tables of them.

#ifndef SERVICES_FILE_SCAN_BENCH_MEASUREMENT_H_
#define SERVICES_FILE_SCAN_BENCH_MEASUREMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/file_scan/bench/statistics.h"
#include "services/file_scan/reader/line_reader.h"

namespace bimbackup::file_scan::bench {

// What is done with each line: counted; its length and first byte used; or
// kept, as a copy or a view, in the list of KeptLines.
enum class Work { kCount, kView, kKeep, kKeepViews };

// "count", "view", "keep", "keep views".
absl::string_view WorkName(Work work);

// What one pass over a file took.
struct Measurement {
  absl::Duration elapsed;
  // Of all threads.
  absl::Duration cpu;
  int64_t lines = 0;
  int64_t bytes = 0;
  int64_t reads = 0;
};

// Opens `file` and does `work` with each of its lines. Fails as
// OpenLineReader and LineReader do.
absl::StatusOr<Measurement> Measure(
    std::shared_ptr<const reader::InputFile> file,
    const reader::ReaderOptions& options, Work work, Clock& clock);

// A matrix of what to measure. All lists hold something.
struct Plan {
  std::vector<reader::Strategy> strategies;
  // As in ReaderOptions.
  std::vector<int64_t> buffer_bytes;
  std::vector<Work> works;
  int repetitions = 5;
  // Whether the file is dropped from the page cache before every measurement;
  // else it is read once before each row.
  bool cold = false;
  int threads = 2;
  // As in ReaderOptions.
  std::function<bool(const reader::LineCounts&)> keep_going;
};

// One row of the table.
struct Row {
  // From 1, and of how many.
  int number = 0;
  int rows = 0;
  reader::Strategy strategy = reader::Strategy::kBlocking;
  int64_t buffer_bytes = 0;
  Work work = Work::kCount;
  // Why it could not be measured here; empty otherwise, and only then is the
  // rest of use.
  std::string unavailable;
  Measurement last;
  Statistics statistics;
  absl::Duration mean_cpu;
  double gigabytes_per_second = 0;
  // The mean as a multiple of the first measured row's.
  double ratio = 0;
};

// Measures row after row and gives each to `done`, which stops everything by
// returning false (CANCELLED). INVALID_ARGUMENT for options out of range.
absl::Status RunPlan(std::shared_ptr<const reader::InputFile> file,
                     const Plan& plan, Clock& clock,
                     const std::function<bool(const Row&)>& done);

}  // namespace bimbackup::file_scan::bench

#endif  // SERVICES_FILE_SCAN_BENCH_MEASUREMENT_H_
