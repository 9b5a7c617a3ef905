#include "services/download_worker/engine/storage_gate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"

namespace bimbackup::engine {
namespace {

// With less room than this, or than a twentieth of a small storage, it would
// fill up again at once.
constexpr int64_t kEnoughRoom = 256 << 20;

}  // namespace

StorageGate::StorageGate(storage::Storage& storage, absl::Duration probe_first,
                         absl::Duration probe_longest)
    : storage_(storage),
      probe_first_(probe_first),
      probe_longest_(probe_longest),
      wait_(probe_first) {}

void StorageGate::Close(absl::string_view problem, absl::Duration now) {
  if (!open()) return;
  problem_ = std::string(problem.data(), problem.size());
  if (problem_.empty()) problem_ = "the storage failed";
  next_probe_ = now + wait_;
  wait_ = std::min(probe_longest_, 2 * wait_);
  spdlog::error("storage: {}; nothing is started until it is well again",
                problem_);
}

void StorageGate::Probe(absl::Duration now) {
  if (open() || now < next_probe_) return;
  const std::string problem = Look();
  next_probe_ = now + wait_;
  if (!problem.empty()) {
    problem_ = problem;
    return;
  }
  problem_.clear();
  spdlog::info("storage: well again");
}

std::string StorageGate::Look() {
  const absl::Status marker = storage_.CheckMarker();
  if (!marker.ok()) return std::string(marker.message());
  const auto capacity = storage_.GetCapacity();
  if (!capacity.ok()) return std::string(capacity.status().message());
  if (!capacity->free_bytes.has_value()) return "";
  int64_t enough = kEnoughRoom;
  if (capacity->total_bytes.has_value()) {
    enough = std::min(enough, *capacity->total_bytes / 20);
  }
  if (*capacity->free_bytes >= enough) return "";
  return absl::StrCat("the storage is full: ", *capacity->free_bytes >> 20,
                      " MiB are free");
}

}  // namespace bimbackup::engine
