#include "services/coordinator/lease/storage_gate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace bimbackup::lease {
namespace {

constexpr absl::Duration kFirstWait = absl::Seconds(2);
constexpr absl::Duration kLongestWait = absl::Seconds(60);
constexpr absl::Duration kBetweenChecks = absl::Seconds(1);

}  // namespace

void StorageGate::Close(absl::string_view problem, absl::Duration now) {
  if (!open()) return;
  problem_ = problem.empty() ? "the storage failed"
                             : std::string(problem.data(), problem.size());
  // A failure soon after the gate opened means that the look was too kind.
  const bool again = now - opened_ < 2 * wait_ + kFirstWait;
  wait_ = again ? std::min(2 * wait_, kLongestWait) : kFirstWait;
  wait_ = std::max(wait_, kFirstWait);
  next_probe_ = now + wait_;
}

void StorageGate::Check(absl::Duration now) {
  if (!open() || now - checked_ < kBetweenChecks) return;
  const std::string problem = FindProblem();
  if (problem.empty()) {
    checked_ = now;
  } else {
    Close(problem, now);
  }
}

void StorageGate::Probe(absl::Duration now) {
  if (open() || now < next_probe_) return;
  const std::string problem = FindProblem();
  if (problem.empty()) {
    problem_.clear();
    opened_ = now;
    return;
  }
  problem_ = problem;
  next_probe_ = now + wait_;
}

std::string StorageGate::FindProblem() {
  if (absl::Status status = storage_.CheckMarker(); !status.ok()) {
    return std::string(status.message().data(), status.message().size());
  }
  const absl::StatusOr<storage::Capacity> capacity = storage_.GetCapacity();
  if (!capacity.ok()) {
    return std::string(capacity.status().message().data(),
                       capacity.status().message().size());
  }
  if (capacity->free_bytes.has_value() &&
      *capacity->free_bytes < kMinFreeBytes) {
    return absl::StrCat("the storage is full: ", *capacity->free_bytes,
                        " bytes are free; make room, the backup goes on");
  }
  return "";
}

}  // namespace bimbackup::lease
