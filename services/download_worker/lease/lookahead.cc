#include "services/download_worker/lease/lookahead.h"

#include <algorithm>

namespace bimbackup::worker_lease {
namespace {

// Shorter than what it plans for, so that it follows the pace soon; long
// enough for a few ends of large files.
constexpr absl::Duration kInterval = absl::Seconds(1);
constexpr double kSecondsAhead = 2;
// What one call may grant: with fewer slots than that, small files would wait
// for calls.
constexpr int kBatch = 32;

}  // namespace

int Lookahead::Transfers(int64_t ended, absl::Duration now, int slots) {
  if (began_ == absl::InfiniteDuration()) began_ = now;
  const absl::Duration lasted = now - began_;
  if (lasted >= kInterval) {
    per_second_ = static_cast<double>(ended - ended_before_) /
                  absl::ToDoubleSeconds(lasted);
    ended_before_ = ended;
    began_ = now;
  }
  const int least = std::max(1, slots / 4);
  const int most = std::max(slots, kBatch);
  return std::clamp(static_cast<int>(per_second_ * kSecondsAhead), least, most);
}

}  // namespace bimbackup::worker_lease
