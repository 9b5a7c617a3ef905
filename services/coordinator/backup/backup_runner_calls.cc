// What callers ask of the runner.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/crawl/crawler.h"
#include "services/coordinator/crawl/path_filter.h"

namespace bimbackup::backup {
namespace {

using bim360::EndpointClass;
using catalog::BackupRecord;
using catalog::BackupState;

// How long CancelBackup waits for the run to end.
constexpr absl::Duration kCancelWait = absl::Seconds(30);

// Open transfers of a running backup for which no URL was signed yet.
int64_t CountUnsigned(const BackupRecord& record,
                      const lease::PoolStats& stats) {
  const catalog::BackupCounters& counters = record.counters;
  return std::max<int64_t>(0, counters.transfers - counters.transfers_stored -
                                  counters.transfers_failed - stats.leased -
                                  stats.ready);
}

}  // namespace

absl::StatusOr<BackupView> BackupRunner::StartBackup(
    const catalog::BackupRequest& request) {
  ABSL_RETURN_IF_ERROR(crawl::PathFilter::Create(request).status());
  if (absl::Status status = storage_.CheckMarker(); !status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the storage is not usable: ", status.message()));
  }
  BackupRecord record;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      return absl::UnavailableError("the coordinator is stopping");
    }
    ABSL_ASSIGN_OR_RETURN(record, catalog_.CreateBackup(request));
    // The run before this one ends its backup a moment before it ends
    // itself; the thread takes up what stands here then.
    const absl::Duration deadline = clock_.Monotonic() + kCancelWait;
    while (running_.has_value() && running_->number != record.number &&
           !stopping_ && clock_.Monotonic() < deadline) {
      clock_.WaitUntil(mutex_, changed_, deadline);
    }
    if (!catalog::HasEnded(record.state) && !running_.has_value()) {
      running_ = record;
    }
  }
  changed_.NotifyAll();
  return MakeView(std::move(record));
}

absl::StatusOr<BackupView> BackupRunner::CancelBackup(absl::string_view id) {
  ABSL_ASSIGN_OR_RETURN(BackupView view, GetBackup(id));
  const catalog::BackupNumber number = view.record.number;
  std::shared_ptr<crawl::Crawler> crawler;
  {
    MutexLock lock(mutex_);
    if (running_.has_value() && running_->number == number) {
      cancelled_ = true;
      crawler = crawler_;
      changed_.NotifyAll();
    }
  }
  if (crawler != nullptr) crawler->Cancel();
  crawler.reset();
  {
    MutexLock lock(mutex_);
    const absl::Duration deadline = clock_.Monotonic() + kCancelWait;
    while (running_.has_value() && running_->number == number && !stopping_ &&
           clock_.Monotonic() < deadline) {
      clock_.WaitUntil(mutex_, changed_, deadline);
    }
  }
  ABSL_ASSIGN_OR_RETURN(view, GetBackup(view.record.id));
  if (!catalog::HasEnded(view.record.state)) {
    return absl::UnavailableError(absl::StrCat(
        "backup ", view.record.id, " has not ended yet; ask again"));
  }
  if (view.record.state != BackupState::kCancelled) {
    return absl::FailedPreconditionError(
        absl::StrCat("backup ", view.record.id, " has ended already"));
  }
  return view;
}

absl::StatusOr<BackupView> BackupRunner::GetBackup(absl::string_view id) {
  if (id != "-") {
    ABSL_ASSIGN_OR_RETURN(BackupRecord record, catalog_.GetBackup(id));
    return MakeView(std::move(record));
  }
  ABSL_ASSIGN_OR_RETURN(auto newest, catalog_.ListBackups(0, 1));
  if (newest.empty()) return absl::NotFoundError("there is no backup yet");
  return MakeView(std::move(newest[0]));
}

absl::StatusOr<BackupView> BackupRunner::MakeView(BackupRecord record) {
  BackupView view;
  view.record = std::move(record);
  if (catalog::HasEnded(view.record.state)) {
    ABSL_ASSIGN_OR_RETURN(const auto newest, catalog_.ListBackups(0, 1));
    if (!newest.empty() && newest[0].number == view.record.number) {
      ABSL_ASSIGN_OR_RETURN(view.totals, catalog_.GetTotals());
      if (view.record.request.validate_only) {
        view.plan =
            MakePlan(view.record, view.totals, view.record.counters.transfers,
                     pool_.stats().signed_by_a_call, Load());
      }
    }
    return view;
  }
  ABSL_ASSIGN_OR_RETURN(view.totals, catalog_.GetTotals());
  const lease::PoolStats stats = pool_.stats();
  const ApiLoad load = Load();
  view.transfers_leased = stats.leased;
  view.limited_by = FindLimit(view.record.state, stats, load);
  MutexLock lock(mutex_);
  view.pause = pause_.on() ? pause_ : stats.pause;
  if (view.pause.on()) {
    view.record.message = view.pause.message;
    view.limited_by = Limit::kStorage;
  }
  for (const auto& [name, calls] : UnflushedCalls()) {
    view.record.counters.api_calls[name] += calls;
  }
  view.bytes_per_second = rate_.PerSecond();
  view.plan =
      MakePlan(view.record, view.totals, CountUnsigned(view.record, stats),
               stats.signed_by_a_call, load);
  view.eta = EstimateRemaining(*view.plan, view.bytes_per_second, load);
  return view;
}

lease::Pause BackupRunner::GetPause() {
  const lease::PoolStats stats = pool_.stats();
  MutexLock lock(mutex_);
  if (!running_.has_value()) return lease::Pause();
  return pause_.on() ? pause_ : stats.pause;
}

ApiLoad BackupRunner::Load() const {
  ApiLoad load;
  load.waiting_projects = limiter_.GetUsage(EndpointClass::kProjects).waiting;
  load.waiting_folders = limiter_.GetUsage(EndpointClass::kFolders).waiting;
  load.waiting_storage = limiter_.GetUsage(EndpointClass::kStorage).waiting;
  load.projects_a_minute = limiter_.CallsPerMinute(EndpointClass::kProjects);
  load.folders_a_minute = limiter_.CallsPerMinute(EndpointClass::kFolders);
  load.storage_a_minute = limiter_.CallsPerMinute(EndpointClass::kStorage);
  return load;
}

std::map<std::string, int64_t> BackupRunner::UnflushedCalls() const {
  std::map<std::string, int64_t> calls;
  if (!running_.has_value()) return calls;
  for (size_t i = 0; i < flushed_.size(); ++i) {
    const auto endpoint_class = static_cast<EndpointClass>(i);
    const int64_t count = limiter_.GetUsage(endpoint_class).calls - flushed_[i];
    if (count == 0) continue;
    const absl::string_view name = bim360::EndpointClassName(endpoint_class);
    calls[std::string(name.data(), name.size())] = count;
  }
  return calls;
}

void BackupRunner::FlushCalls(catalog::BackupNumber backup) {
  std::map<std::string, int64_t> calls;
  {
    MutexLock lock(mutex_);
    calls = UnflushedCalls();
    for (size_t i = 0; i < flushed_.size(); ++i) {
      const auto endpoint_class = static_cast<EndpointClass>(i);
      const absl::string_view name = bim360::EndpointClassName(endpoint_class);
      const auto it = calls.find(std::string(name.data(), name.size()));
      if (it != calls.end()) flushed_[i] += it->second;
    }
  }
  if (calls.empty()) return;
  if (absl::Status status = catalog_.AddApiCalls(backup, calls); !status.ok()) {
    spdlog::warn("API calls could not be counted: {}", status);
  }
}

}  // namespace bimbackup::backup
