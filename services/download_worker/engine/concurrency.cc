#include "services/download_worker/engine/concurrency.h"

#include <algorithm>

namespace bimbackup::engine {
namespace {

constexpr absl::Duration kRound = absl::Seconds(2);
// A step up that does not move so much more is taken back.
constexpr double kWorthwhile = 1.05;
// How long nothing is tried after a step was taken back or fell back.
constexpr absl::Duration kQuiet = absl::Seconds(20);
// What a request costs beside its bytes, in bytes: many small files are as
// much work as few large ones.
constexpr double kRequestCost = 64 << 10;
// Of the requests of a round, the share that must fail before it counts.
constexpr double kOverloadedShare = 0.05;

}  // namespace

Concurrency::Concurrency(int initial, int most)
    : least_(std::min(4, initial)),
      most_(std::max(initial, most)),
      slots_(initial),
      quiet_until_(-absl::InfiniteDuration()) {}

void Concurrency::Count(int64_t bytes, bool overloaded) {
  moved_ += static_cast<double>(bytes) + (overloaded ? 0 : kRequestCost);
  ++ended_;
  if (overloaded) ++overloaded_;
}

bool Concurrency::Tick(absl::Duration now, int in_use, bool capped) {
  if (round_began_ == absl::ZeroDuration()) round_began_ = now;
  const absl::Duration lasted = now - round_began_;
  if (lasted < kRound) return false;
  const double rate = moved_ / absl::ToDoubleSeconds(lasted);
  const bool overloaded = overloaded_ > ended_ * kOverloadedShare;
  const int before = slots_;
  round_began_ = now;
  moved_ = 0;
  overloaded_ = 0;
  ended_ = 0;
  if (overloaded) {
    FallBack(now);
  } else if (slots_before_ > 0 && rate < rate_before_ * kWorthwhile) {
    slots_ = slots_before_;
    slots_before_ = 0;
    quiet_until_ = now + kQuiet;
  } else if (!capped && in_use >= slots_ && now >= quiet_until_) {
    StepUp(rate);
  } else {
    slots_before_ = 0;
  }
  return slots_ != before;
}

void Concurrency::StepUp(double rate) {
  slots_before_ = slots_ < most_ ? slots_ : 0;
  rate_before_ = rate;
  slots_ = std::min(most_, slots_ + std::max(1, slots_ / 4));
}

void Concurrency::FallBack(absl::Duration now) {
  slots_ = std::max(least_, slots_ * 3 / 4);
  slots_before_ = 0;
  quiet_until_ = now + kQuiet;
}

}  // namespace bimbackup::engine
