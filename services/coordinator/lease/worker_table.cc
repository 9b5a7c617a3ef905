#include "services/coordinator/lease/worker_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/coordinator/lease/lease_table.h"

namespace bimbackup::lease {
namespace {

std::string Key(absl::string_view worker_id) {
  return std::string(worker_id.data(), worker_id.size());
}

}  // namespace

void WorkerTable::Report(const WorkerReport& report, absl::Duration now,
                         absl::Time time) {
  Worker& worker = workers_[report.worker_id];
  worker.last_heard = now;
  WorkerInfo& info = worker.info;
  info.worker_id = report.worker_id;
  info.display_name = report.display_name;
  info.version = report.version;
  info.last_seen = time;
  info.free_slots = report.draining ? 0 : std::max(report.free_slots, 0);
  info.draining = info.draining || report.draining;
  info.storage_problem = report.storage_problem;
  info.bytes_received = report.bytes_received;
}

void WorkerTable::CountStored(absl::string_view worker_id, int64_t count) {
  const auto it = workers_.find(Key(worker_id));
  if (it != workers_.end()) it->second.info.stored_count += count;
}

bool WorkerTable::Drain(absl::string_view worker_id) {
  const auto it = workers_.find(Key(worker_id));
  if (it == workers_.end()) return false;
  it->second.info.draining = true;
  return true;
}

bool WorkerTable::IsDraining(absl::string_view worker_id) const {
  const auto it = workers_.find(Key(worker_id));
  return it != workers_.end() && it->second.info.draining;
}

void WorkerTable::SetToldBandwidth(absl::string_view worker_id,
                                   int64_t bytes_per_second) {
  const auto it = workers_.find(Key(worker_id));
  if (it != workers_.end()) it->second.told_bandwidth = bytes_per_second;
}

int64_t WorkerTable::ToldBandwidth(absl::string_view worker_id) const {
  const auto it = workers_.find(Key(worker_id));
  return it == workers_.end() ? 0 : it->second.told_bandwidth;
}

void WorkerTable::TakeSlots(absl::string_view worker_id, int count) {
  const auto it = workers_.find(Key(worker_id));
  if (it == workers_.end()) return;
  it->second.info.free_slots = std::max(0, it->second.info.free_slots - count);
}

bool WorkerTable::TakesTransfers(const Worker& worker,
                                 absl::Duration now) const {
  return now - worker.last_heard < lease_life_ && !worker.info.draining &&
         worker.info.storage_problem.empty();
}

int WorkerTable::CountActive(absl::Duration now) const {
  int active = 0;
  for (const auto& [id, worker] : workers_) {
    if (TakesTransfers(worker, now)) ++active;
  }
  return active;
}

std::set<std::string> WorkerTable::ActiveIds(absl::Duration now) const {
  std::set<std::string> ids;
  for (const auto& [id, worker] : workers_) {
    if (TakesTransfers(worker, now)) ids.insert(id);
  }
  return ids;
}

int WorkerTable::FreeSlots(absl::Duration now) const {
  int slots = 0;
  for (const auto& [id, worker] : workers_) {
    if (TakesTransfers(worker, now)) slots += worker.info.free_slots;
  }
  return slots;
}

Pause WorkerTable::FindPause(absl::Duration now) const {
  for (const auto& [id, worker] : workers_) {
    if (worker.info.storage_problem.empty() ||
        now - worker.last_heard >= lease_life_) {
      continue;
    }
    return {PauseReason::kWorkerStorage,
            absl::StrCat("worker ", worker.info.display_name, ": ",
                         worker.info.storage_problem)};
  }
  return Pause();
}

void WorkerTable::Forget(absl::Duration now) {
  std::erase_if(workers_, [now](const auto& entry) {
    return now - entry.second.last_heard >= kMemory;
  });
}

absl::Duration WorkerTable::NextForgotten() const {
  absl::Duration next = absl::InfiniteDuration();
  for (const auto& [id, worker] : workers_) {
    next = std::min(next, worker.last_heard + kMemory);
  }
  return next;
}

std::vector<WorkerInfo> WorkerTable::List() const {
  std::vector<WorkerInfo> list;
  for (const auto& [id, worker] : workers_) list.push_back(worker.info);
  return list;
}

}  // namespace bimbackup::lease
