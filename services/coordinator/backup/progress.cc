#include "services/coordinator/backup/progress.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace bimbackup::backup {
namespace {

// Raises the floor to what `calls` of a class need: a minute's calls may go
// all at once, the next ones a minute later.
void AddCalls(const char* name, int64_t calls, double a_minute,
              BackupPlan& plan) {
  if (calls == 0) return;
  plan.api_calls[name] = calls;
  if (!std::isfinite(a_minute) || a_minute <= 0) return;
  const absl::Duration needs = absl::Minutes(
      std::floor(static_cast<double>(calls - 1) / std::max(a_minute, 1.0)));
  if (needs <= plan.floor) return;
  plan.floor = needs;
  plan.floor_class = name;
  plan.floor_calls_per_minute = a_minute;
}

}  // namespace

void RateMeter::Add(absl::Duration now, int64_t value) {
  samples_.emplace_back(now, value);
  while (samples_.size() > 2 && now - samples_[1].first >= kWindow) {
    samples_.pop_front();
  }
}

double RateMeter::PerSecond() const {
  if (samples_.size() < 2) return 0;
  const double seconds =
      absl::ToDoubleSeconds(samples_.back().first - samples_.front().first);
  const double units =
      static_cast<double>(samples_.back().second - samples_.front().second);
  return seconds <= 0 ? 0 : std::max(0.0, units / seconds);
}

Limit FindLimit(catalog::BackupState state, const lease::PoolStats& pool,
                const ApiLoad& api) {
  if (catalog::HasEnded(state)) return Limit::kUnspecified;
  if (state == catalog::BackupState::kCommitting) return Limit::kNothingLeft;
  if (pool.pause.on()) return Limit::kStorage;
  const bool has_transfers =
      pool.ready + pool.signing + pool.waiting + pool.leased > 0;
  if (has_transfers && pool.workers == 0) return Limit::kNoWorker;
  if (pool.ready > 0 && pool.free_slots == 0) return Limit::kNetwork;
  if (api.waiting_storage > 0 && pool.ready == 0) return Limit::kApiStorage;
  if (api.waiting_folders > 0) return Limit::kApiFolders;
  if (api.waiting_projects > 0) return Limit::kApiProjects;
  return pool.leased > 0 ? Limit::kNetwork : Limit::kUnspecified;
}

BackupPlan MakePlan(const catalog::BackupRecord& record,
                    const catalog::AccountTotals& totals,
                    int64_t unsigned_transfers, int signed_by_a_call,
                    const ApiLoad& api) {
  const catalog::BackupCounters& counters = record.counters;
  BackupPlan plan;
  plan.transfers = counters.transfers - counters.transfers_stored -
                   counters.transfers_failed;
  plan.bytes =
      std::max<int64_t>(0, counters.transfer_bytes - counters.bytes_stored);
  int64_t projects = 0;
  int64_t folders = totals.frontier;
  if (catalog::HasEnded(record.state)) {
    // The backup after a dry run lists the projects again, and the topmost
    // folders of each.
    const auto listed = counters.api_calls.find("projects");
    if (listed != counters.api_calls.end()) projects = listed->second;
    folders += totals.projects;
  }
  AddCalls("projects", projects, api.projects_a_minute, plan);
  AddCalls("folders", folders, api.folders_a_minute, plan);
  AddCalls("storage",
           (unsigned_transfers + signed_by_a_call - 1) / signed_by_a_call,
           api.storage_a_minute, plan);
  return plan;
}

std::optional<absl::Duration> EstimateRemaining(const BackupPlan& plan,
                                                double bytes_per_second,
                                                const ApiLoad& api) {
  double seconds = 0;
  if (plan.transfers > 0 && plan.bytes > 0) {
    if (bytes_per_second <= 0) return std::nullopt;
    seconds = static_cast<double>(plan.bytes) / bytes_per_second;
  }
  const auto add_calls = [&](const char* name, double a_minute) {
    const auto it = plan.api_calls.find(name);
    if (it == plan.api_calls.end()) return;
    seconds =
        std::max(seconds, 60 * static_cast<double>(it->second) / a_minute);
  };
  add_calls("storage", api.storage_a_minute);
  add_calls("folders", api.folders_a_minute);
  return absl::Seconds(seconds);
}

}  // namespace bimbackup::backup
