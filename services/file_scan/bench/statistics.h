// What repeated measurements say.

#ifndef SERVICES_FILE_SCAN_BENCH_STATISTICS_H_
#define SERVICES_FILE_SCAN_BENCH_STATISTICS_H_

#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace bimbackup::file_scan::bench {

struct Statistics {
  absl::Duration mean;
  // Half of the mean's 99.9 % confidence interval, by Student's t; nothing
  // for fewer than two measurements, as is the standard deviation.
  std::optional<absl::Duration> error;
  std::optional<absl::Duration> standard_deviation;
  absl::Duration min;
  absl::Duration max;
};

// Of at least one measurement.
Statistics StatisticsOf(const std::vector<absl::Duration>& samples);

}  // namespace bimbackup::file_scan::bench

#endif  // SERVICES_FILE_SCAN_BENCH_STATISTICS_H_
