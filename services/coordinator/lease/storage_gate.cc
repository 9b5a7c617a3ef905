#include "services/coordinator/lease/storage_gate.h"

#include <algorithm>

#include "clients/storage/storage_probe.h"
#include "services/common/logging.h"

namespace bimbackup::lease {
namespace {

constexpr absl::Duration kFirstWait = absl::Seconds(2);
constexpr absl::Duration kLongestWait = absl::Seconds(60);
constexpr absl::Duration kBetweenChecks = absl::Seconds(1);

}  // namespace

void StorageGate::Close(const absl::Status& problem, absl::Duration now) {
  // What was seen before counts no longer.
  seen_ = -absl::InfiniteDuration();
  if (!open()) return;
  problem_ = problem;
  // A failure soon after the gate opened means that the look was too kind.
  const bool again = now - opened_ < 2 * wait_ + kFirstWait;
  wait_ = again ? std::min(2 * wait_, kLongestWait) : kFirstWait;
  wait_ = std::max(wait_, kFirstWait);
  next_probe_ = now + wait_;
  spdlog::error("nothing is granted until the storage is well again: {}",
                problem_);
}

void StorageGate::Check(absl::Duration now) {
  if (!open() || now - checked_ < kBetweenChecks) return;
  const absl::Status status = storage::ProbeStorage(storage_, /*needed=*/0);
  if (status.ok()) {
    checked_ = now;
  } else {
    Close(status, now);
  }
}

absl::Status StorageGate::CheckMarker(absl::Duration now) {
  if (now - seen_ < kBetweenChecks) return absl::OkStatus();
  absl::Status status = storage_.CheckMarker();
  if (status.ok()) {
    seen_ = now;
  } else {
    Close(status, now);
  }
  return status;
}

void StorageGate::Probe(absl::Duration now) {
  if (open() || now < next_probe_) return;
  problem_ = storage::ProbeStorage(storage_, /*needed=*/0);
  if (problem_.ok()) {
    opened_ = now;
    spdlog::info("the storage is well again");
  } else {
    next_probe_ = now + wait_;
  }
}

}  // namespace bimbackup::lease
