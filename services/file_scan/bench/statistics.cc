#include "services/file_scan/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace bimbackup::file_scan::bench {
namespace {

// The two-sided 99.9 % quantile of Student's t with `degrees` of freedom.
double StudentT(size_t degrees) {
  static constexpr double kQuantiles[] = {
      636.619, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587,
      4.437,   4.318,  4.221,  4.140, 4.073, 4.015, 3.965, 3.922, 3.883, 3.850,
      3.819,   3.792,  3.768,  3.745, 3.725, 3.707, 3.690, 3.674, 3.659, 3.646};
  if (degrees <= std::size(kQuantiles)) return kQuantiles[degrees - 1];
  // The normal quantile and its first correction.
  return 3.2905 + 9.7295 / static_cast<double>(degrees);
}

}  // namespace

Statistics StatisticsOf(const std::vector<absl::Duration>& samples) {
  Statistics result;
  absl::Duration sum;
  for (const absl::Duration sample : samples) sum += sample;
  result.mean = sum / static_cast<double>(samples.size());
  result.min = *std::min_element(samples.begin(), samples.end());
  result.max = *std::max_element(samples.begin(), samples.end());
  if (samples.size() < 2) return result;
  double squares = 0;
  for (const absl::Duration sample : samples) {
    const double deviation = absl::ToDoubleSeconds(sample - result.mean);
    squares += deviation * deviation;
  }
  const double count = static_cast<double>(samples.size());
  const double deviation = std::sqrt(squares / (count - 1));
  result.standard_deviation = absl::Seconds(deviation);
  result.error = absl::Seconds(StudentT(samples.size() - 1) * deviation /
                               std::sqrt(count));
  return result;
}

}  // namespace bimbackup::file_scan::bench
