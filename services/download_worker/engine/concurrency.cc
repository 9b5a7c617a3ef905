#include "services/download_worker/engine/concurrency.h"

#include <algorithm>

namespace bimbackup::engine {
namespace {

constexpr absl::Duration kShortestRound = absl::Seconds(2);
// A request that takes longer says more about itself than about the slots.
constexpr absl::Duration kLongestRound = absl::Seconds(10);
// So many requests tell enough, however long others take.
constexpr int kEnoughEnded = 20;
// A step up that does not move so much more is taken back.
constexpr double kWorthwhile = 1.05;
// How long nothing is tried after a step was taken back or fell back.
constexpr absl::Duration kQuiet = absl::Seconds(20);
// What a request costs beside its bytes, in bytes: many small files are as
// much work as few large ones.
constexpr double kRequestCost = 64 << 10;
// Of the requests of a round, the share that must fail before it counts.
constexpr double kOverloadedShare = 0.05;
// One alone is an accident, whatever its share.
constexpr int kOverloadedLeast = 2;

}  // namespace

Concurrency::Concurrency(int initial, int most)
    : least_(std::min(4, initial)),
      most_(std::max(initial, most)),
      slots_(initial),
      quiet_until_(-absl::InfiniteDuration()) {}

void Concurrency::CountBytes(int64_t bytes) {
  moved_ += static_cast<double>(bytes);
}

void Concurrency::CountEnd(absl::Duration took, bool overloaded) {
  ++ended_;
  longest_ = std::max(longest_, took);
  if (overloaded) {
    ++overloaded_;
  } else {
    moved_ += kRequestCost;
  }
}

absl::Duration Concurrency::RoundLength() const {
  if (ended_ >= kEnoughEnded) return kShortestRound;
  return std::clamp(std::max(longest_, longest_before_), kShortestRound,
                    kLongestRound);
}

bool Concurrency::Tick(absl::Duration now, int in_use, bool capped) {
  if (round_began_ == absl::ZeroDuration()) round_began_ = now;
  const absl::Duration lasted = now - round_began_;
  if (lasted < RoundLength()) return false;
  const double rate = moved_ / absl::ToDoubleSeconds(lasted);
  const bool silent = moved_ == 0 && ended_ == 0;
  const bool overloaded = overloaded_ >= kOverloadedLeast &&
                          overloaded_ > ended_ * kOverloadedShare;
  const int before = slots_;
  if (ended_ > 0) longest_before_ = longest_;
  round_began_ = now;
  moved_ = 0;
  overloaded_ = 0;
  ended_ = 0;
  longest_ = absl::ZeroDuration();
  // Nothing to compare with: any step would seem to have moved more.
  if (silent) return false;
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
