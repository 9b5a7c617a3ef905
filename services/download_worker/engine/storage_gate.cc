#include "services/download_worker/engine/storage_gate.h"

#include <algorithm>

#include "clients/storage/storage_probe.h"
#include "services/common/logging.h"

namespace bimbackup::engine {

StorageGate::StorageGate(storage::Storage& storage, absl::Duration probe_first,
                         absl::Duration probe_longest,
                         absl::Duration marker_interval)
    : storage_(storage),
      probe_first_(probe_first),
      probe_longest_(probe_longest),
      marker_interval_(marker_interval),
      wait_(probe_first) {}

void StorageGate::Close(absl::string_view problem, int64_t room_needed,
                        absl::Duration now) {
  room_needed_ = std::max(room_needed_, room_needed);
  if (!open()) return;
  problem_ = std::string(problem.data(), problem.size());
  if (problem_.empty()) problem_ = "the storage failed";
  next_probe_ = now + wait_;
  wait_ = std::min(probe_longest_, 2 * wait_);
  spdlog::error("storage: {}; nothing is started until it is well again",
                problem_);
}

void StorageGate::OnStored() {
  wait_ = probe_first_;
  on_trial_ = false;
}

void StorageGate::LookForMarker(absl::Duration now) {
  if (now < next_marker_) return;
  next_marker_ = now + marker_interval_;
  const absl::Status marker = storage_.CheckMarker();
  if (!marker.ok()) Close(marker.message(), /*room_needed=*/0, now);
}

void StorageGate::Probe(absl::Duration now) {
  if (open()) {
    LookForMarker(now);
    return;
  }
  if (now < next_probe_) return;
  const absl::Status status = storage::ProbeStorage(storage_, room_needed_);
  next_probe_ = now + wait_;
  if (!status.ok()) {
    problem_ = std::string(status.message());
    return;
  }
  problem_.clear();
  room_needed_ = 0;
  on_trial_ = true;
  spdlog::info("storage: well again");
}

}  // namespace bimbackup::engine
