// How many requests a worker runs at once.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_CONCURRENCY_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_CONCURRENCY_H_

#include <cstdint>

#include "absl/time/time.h"

namespace bimbackup::engine {

// Climbs while more requests move more: once a round it compares what moved
// with what moved before its last step. A round lasts two seconds, or, while
// few requests end, as long as they take, so that those of a step can tell.
// Requests that fail because something is overloaded (time-outs, resets, 503)
// make it fall back. Not thread-safe.
class Concurrency {
 public:
  // Starts with `initial` requests; 1 <= initial <= most.
  Concurrency(int initial, int most);

  // Bytes came, of requests that run or have ended.
  void CountBytes(int64_t bytes);

  // A request ended: how long it took, and whether it was refused or lost
  // because something is overloaded.
  void CountEnd(absl::Duration took, bool overloaded);

  // Ends a round when it is time. `in_use` of the slots are taken now; under
  // a bandwidth `capped` by ourselves more requests cannot move more.
  // Returns whether slots() has changed.
  bool Tick(absl::Duration now, int in_use, bool capped);

  // Requests that may run now.
  int slots() const { return slots_; }

 private:
  absl::Duration RoundLength() const;
  void StepUp(double rate);
  void FallBack(absl::Duration now);

  const int least_;
  const int most_;
  int slots_;
  // Of the round under way.
  absl::Duration round_began_;
  double moved_ = 0;
  int overloaded_ = 0;
  int ended_ = 0;
  absl::Duration longest_;
  // Of the last round in which a request ended.
  absl::Duration longest_before_;
  // Slots and units a second before the step that is being tried; 0 slots
  // where none is.
  int slots_before_ = 0;
  double rate_before_ = 0;
  // No step up before it.
  absl::Duration quiet_until_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_CONCURRENCY_H_
