// How slow a request may be under the bandwidth cap in force.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_PACE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_PACE_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "services/download_worker/engine/engine_options.h"

namespace bimbackup::engine {

// Slow because of our own cap is no failure: under a cap everything that
// limits the time of a request gives each slot half of its share.
// Thread-safe.
class Pace {
 public:
  explicit Pace(const EngineOptions& options);

  // Body bytes a second of all requests together; 0 for no cap.
  void SetCap(int64_t bytes_per_second) { cap_ = bytes_per_second; }
  int64_t cap() const { return cap_; }
  bool capped() const { return cap_ > 0; }

  // Bytes a second below which a request may be given up.
  int64_t slowest() const;
  // How long after its own limits a request that has not ended is given up.
  absl::Duration watchdog_grace() const;

 private:
  const int slots_;
  const int64_t slowest_;
  const absl::Duration watchdog_grace_;
  std::atomic<int64_t> cap_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_PACE_H_
