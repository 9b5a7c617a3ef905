// The runner's thread and the phases of a run. What callers ask of it is in
// backup_runner_calls.cc, how it waits for the disk in backup_runner_waits.cc.

#include "services/coordinator/backup/backup_runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/storage/storage_probe.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/backup/ending.h"
#include "services/coordinator/catalog/catalog_error.h"
#include "services/coordinator/crawl/crawler.h"
#include "services/coordinator/rebuild/catalog_copy.h"

namespace bimbackup::backup {

using catalog::BackupRecord;
using catalog::BackupState;

namespace {

// Transfers of older backups are forgotten, attempts and all.
constexpr int kBackupsWithTransfers = 30;

}  // namespace

BackupRunner::BackupRunner(catalog::Catalog& catalog,
                           bim360::Bim360Client& client,
                           const bim360::ApiLimiter& limiter,
                           storage::Storage& storage, lease::LeasePool& pool,
                           SnapshotStep& snapshot, Clock& clock,
                           const BackupOptions& options)
    : catalog_(catalog),
      client_(client),
      limiter_(limiter),
      storage_(storage),
      pool_(pool),
      snapshot_(snapshot),
      clock_(clock),
      options_(options),
      watches_(
          [this](catalog::BackupNumber backup) -> absl::StatusOr<BackupView> {
            ABSL_ASSIGN_OR_RETURN(auto records,
                                  catalog_.ListBackups(backup + 1, 1));
            if (records.empty() || records[0].number != backup) {
              return absl::NotFoundError("no such backup");
            }
            return MakeView(std::move(records[0]));
          },
          clock) {
  pool_.SetListener([this] { OnPoolChange(); });
}

BackupRunner::~BackupRunner() { Stop(); }

absl::Status BackupRunner::Start() {
  ABSL_ASSIGN_OR_RETURN(const auto running, catalog_.GetRunningBackup());
  if (running.has_value()) {
    spdlog::info("backup {} goes on", running->id);
    // Before any worker can ask for the leases that it holds.
    ABSL_RETURN_IF_ERROR(BeginTransfers(*running));
    MutexLock lock(mutex_);
    running_ = *running;
  }
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

void BackupRunner::Stop() {
  std::shared_ptr<crawl::Crawler> crawler;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    crawler = crawler_;
  }
  changed_.NotifyAll();
  if (crawler != nullptr) crawler->Cancel();
  crawler.reset();
  // After the crawl was stopped, so that it takes no call for a failed one.
  client_.Cancel();
  if (thread_.joinable()) thread_.join();
}

void BackupRunner::OnPoolChange() {
  const lease::PoolStats stats = pool_.stats();
  {
    MutexLock lock(mutex_);
    if (!running_.has_value()) return;
    rate_.Add(clock_.Monotonic(), stats.bytes_moved);
    if (stats.drained || !stats.credential_problem.empty()) {
      changed_.NotifyAll();
    }
  }
  watches_.Notify(/*at_once=*/false);
}

void BackupRunner::Loop() {
  while (true) {
    BackupRecord record;
    {
      MutexLock lock(mutex_);
      while (!running_.has_value() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      record = *running_;
      pause_ = lease::Pause();
      rate_.Reset();
      for (size_t i = 0; i < flushed_.size(); ++i) {
        flushed_[i] =
            limiter_.GetUsage(static_cast<bim360::EndpointClass>(i)).calls;
      }
    }
    Run(record);
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      running_.reset();
      cancelled_ = false;
      pause_ = lease::Pause();
    }
    changed_.NotifyAll();
    watches_.Notify(/*at_once=*/true);
  }
}

absl::Status BackupRunner::CheckRunning() {
  MutexLock lock(mutex_);
  if (stopping_) return absl::CancelledError("the coordinator is stopping");
  if (cancelled_) return absl::CancelledError("cancelled on request");
  return absl::OkStatus();
}

bool BackupRunner::IsStopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

void BackupRunner::Run(const BackupRecord& record) {
  absl::Status status = RunPhases(record);
  pool_.EndBackup();
  if (status.ok()) return;
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    if (cancelled_) status = absl::CancelledError("cancelled on request");
  }
  EndFailed(record, status);
}

absl::Status BackupRunner::RunPhases(const BackupRecord& record) {
  // While it runs, a message in the catalog means that it was cut short.
  std::string note = record.message;
  ABSL_RETURN_IF_ERROR(BeginTransfers(record));
  if (record.state == BackupState::kCrawling) {
    ABSL_RETURN_IF_ERROR(Crawl(record, note));
    if (record.request.validate_only) return Commit(record, note);
    ABSL_RETURN_IF_ERROR(SetState(record, BackupState::kTransferring, note));
  }
  if (record.state != BackupState::kCommitting) {
    ABSL_RETURN_IF_ERROR(WaitForTransfers(record, note));
    ABSL_RETURN_IF_ERROR(SetState(record, BackupState::kCommitting, note));
  }
  return Commit(record, note);
}

absl::Status BackupRunner::BeginTransfers(const BackupRecord& record) {
  if (record.request.validate_only ||
      record.state == BackupState::kCommitting) {
    return absl::OkStatus();
  }
  return pool_.BeginBackup(record.number, record.create_time);
}

absl::Status BackupRunner::Crawl(const BackupRecord& record,
                                 std::string& note) {
  crawl::CrawlerOptions options;
  options.backup = record.number;
  options.hub_id = options_.hub_id;
  options.client_id = options_.client_id;
  options.viewer = options_.viewer;
  ABSL_ASSIGN_OR_RETURN(options.filter,
                        crawl::PathFilter::Create(record.request));
  options.full_recheck = record.request.full_recheck;
  options.recheck_folders =
      crawl::RecheckFolders(options_.recheck_budget, limiter_.budget());
  options.deadline = Deadline(record);
  options.on_transfers = [this] {
    pool_.NotifyPending();
    watches_.Notify(/*at_once=*/false);
  };
  options.on_pause = [this](const absl::Status& status) { SetPause(status); };
  auto crawler = std::make_shared<crawl::Crawler>(client_, catalog_, clock_,
                                                  std::move(options));
  {
    MutexLock lock(mutex_);
    if (stopping_ || cancelled_) return absl::CancelledError("cancelled");
    crawler_ = crawler;
  }
  const absl::StatusOr<crawl::CrawlResult> result = crawler->Run();
  {
    MutexLock lock(mutex_);
    crawler_.reset();
  }
  crawler.reset();
  FlushCalls(record.number);
  ABSL_RETURN_IF_ERROR(CheckRunning());
  ABSL_RETURN_IF_ERROR(result.status());
  if (!result->complete) note = result->message;
  return absl::OkStatus();
}

absl::Status BackupRunner::WaitForTransfers(const BackupRecord& record,
                                            std::string& note) {
  pool_.SetListingDone();
  const absl::Duration deadline = Deadline(record);
  std::string problem;
  {
    MutexLock lock(mutex_);
    while (!stopping_ && !cancelled_) {
      const lease::PoolStats stats = pool_.stats();
      if (stats.drained) break;
      problem = stats.credential_problem;
      if (problem.empty() && clock_.Monotonic() >= deadline) {
        problem = "the run took longer than --max_duration";
      }
      if (!problem.empty()) break;
      clock_.WaitUntil(mutex_, changed_, deadline);
    }
  }
  FlushCalls(record.number);
  ABSL_RETURN_IF_ERROR(CheckRunning());
  pool_.EndBackup();
  if (problem.empty()) return absl::OkStatus();
  if (note.empty()) note = problem;
  return Persist(record,
                 [&] { return catalog_.FailOpen(record.number, problem); });
}

absl::Status BackupRunner::Commit(const BackupRecord& record,
                                  absl::string_view note) {
  ABSL_ASSIGN_OR_RETURN(BackupRecord now, catalog_.GetBackup(record.id));
  const Ending ending = JudgeEnding(now.counters, note);
  if (record.request.validate_only) {
    return End(record, ending.state, ending.message);
  }
  MaybeCrash("coordinator.committing");
  ABSL_RETURN_IF_ERROR(WriteSnapshot(now, ending.state));
  // The snapshot is there: a request to cancel comes too late from here on.
  BackupState state = ending.state;
  std::string message = ending.message;
  const absl::Status status =
      WaitToWrite(record, "the latest view is not up to date",
                  [&] { return UpdateLatest(now); });
  if (!status.ok()) {
    if (IsStopping()) return status;
    state = BackupState::kPartial;
    absl::StrAppend(
        &message, message.empty() ? "" : "; ",
        absl::IsCancelled(status) ? "the latest view is not up to date: " : "",
        status.message());
  }
  if (absl::Status kept = KeepCatalogCopy(now); !kept.ok()) {
    if (IsStopping()) return kept;
    spdlog::warn("backup {}: its catalog's copy was not stored: {}", record.id,
                 kept);
    absl::StrAppend(&message, message.empty() ? "" : "; ",
                    "the catalog's copy was not stored: ", kept.message());
  }
  return End(record, state, message);
}

absl::Status BackupRunner::KeepCatalogCopy(const BackupRecord& record) {
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more && !IsStopping()) {
    more = catalog_.PruneTransfers(kBackupsWithTransfers);
  }
  if (!more.ok()) {
    spdlog::warn("old transfers could not be removed: {}", more.status());
  }
  return rebuild::StoreCatalogCopy(catalog_, storage_, record.id,
                                   [this] { return IsStopping(); });
}

absl::Status BackupRunner::UpdateLatest(const BackupRecord& record) {
  const absl::Status status = snapshot_.UpdateLatest(record);
  if (status.ok() || absl::IsResourceExhausted(status) ||
      catalog::IsCatalogError(status) ||
      !storage::ProbeStorage(storage_, /*needed=*/0).ok()) {
    return status;
  }
  // What is wrong with the view alone holds up no backup.
  return absl::InternalError(status.message());
}

absl::Status BackupRunner::WriteSnapshot(const BackupRecord& record,
                                         BackupState end_state) {
  return WaitToWrite(record, "the snapshot could not be written", [&] {
    return snapshot_.WriteSnapshot(record, end_state);
  });
}

absl::Status BackupRunner::End(const BackupRecord& record, BackupState state,
                               absl::string_view message) {
  FlushCalls(record.number);
  ABSL_RETURN_IF_ERROR(Persist(record, [&] {
    return catalog_.SetBackupState(record.number, state, message);
  }));
  spdlog::info("backup {} has ended{}{}", record.id,
               message.empty() ? "" : ": ", message);
  watches_.Notify(/*at_once=*/true);
  return absl::OkStatus();
}

void BackupRunner::EndFailed(const BackupRecord& record,
                             const absl::Status& status) {
  const bool cancelled = absl::IsCancelled(status);
  const std::string message(status.message().data(), status.message().size());
  if (!record.request.validate_only) {
    const absl::Status failed = Persist(
        record, [&] { return catalog_.FailOpen(record.number, message); });
    if (!failed.ok()) spdlog::error("backup {}: {}", record.id, failed);
    // The next process ends it then.
    if (IsStopping()) return;
  }
  const BackupState state =
      cancelled ? BackupState::kCancelled : BackupState::kFailed;
  if (absl::Status ended = End(record, state, message); !ended.ok()) {
    spdlog::error("backup {} could not be ended ({}): {}", record.id, message,
                  ended);
  }
}

absl::Status BackupRunner::SetState(const BackupRecord& record,
                                    BackupState state,
                                    absl::string_view message) {
  ABSL_RETURN_IF_ERROR(Persist(record, [&] {
    return catalog_.SetBackupState(record.number, state, message);
  }));
  watches_.Notify(/*at_once=*/true);
  return absl::OkStatus();
}

absl::Duration BackupRunner::Deadline(const BackupRecord& record) const {
  if (options_.max_duration == absl::InfiniteDuration()) {
    return absl::InfiniteDuration();
  }
  // By the wall clock, because the run may have begun in another process.
  const absl::Duration age = clock_.Now() - record.create_time;
  return clock_.Monotonic() +
         std::max(absl::ZeroDuration(), options_.max_duration - age);
}

}  // namespace bimbackup::backup
