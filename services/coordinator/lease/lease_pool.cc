// The pool's thread, its public face, and the order of its work. The steps
// are in lease_pool_reports.cc (what comes in) and lease_pool_grants.cc (what
// goes out).

#include "services/coordinator/lease/lease_pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {
namespace {

// How often one lease's URLs are signed again. A large file outlives its URLs
// many times: this is above what a worker asks for in one lease (its engine's
// `signatures`, 48), so that the worker's own bound is the one that is met.
constexpr int kMaxResolved = 64;

// A call that is held renews its leases only when the next one comes.
LeasePool::Options Bounded(LeasePool::Options options) {
  options.max_hold = std::min(options.max_hold, options.lease_life / 3);
  return options;
}

absl::Status Stopping() {
  return absl::UnavailableError("the coordinator is stopping");
}

}  // namespace

LeasePool::LeasePool(catalog::TransferStore& store, storage::Storage& storage,
                     bim360::Bim360Client& client,
                     const http::HostPolicy& policy, Clock& clock,
                     Random& random)
    : LeasePool(store, storage, client, policy, clock, random, Options()) {}

LeasePool::LeasePool(catalog::TransferStore& store, storage::Storage& storage,
                     bim360::Bim360Client& client,
                     const http::HostPolicy& policy, Clock& clock,
                     Random& random, const Options& options)
    : store_(store),
      clock_(clock),
      options_(Bounded(options)),
      table_(options.lease_life),
      workers_(options.lease_life),
      gate_(storage),
      settler_(table_, store, storage, gate_, clock, random) {
  signer_.emplace(
      client, policy, options.max_signing,
      [this](int64_t id, absl::StatusOr<bim360::SignedDownload> download) {
        MutexLock lock(mutex_);
        inbox_.downloads.push_back({id, std::move(download)});
        woken_ = true;
        arrived_.NotifyAll();
      });
}

LeasePool::~LeasePool() { Stop(); }

void LeasePool::SetListener(std::function<void()> listener) {
  listener_ = std::move(listener);
}

absl::Status LeasePool::LoadEpoch() {
  MutexLock lock(state_mutex_);
  ABSL_ASSIGN_OR_RETURN(next_epoch_, store_.NextEpochBase());
  return absl::OkStatus();
}

absl::Status LeasePool::Start() {
  ABSL_RETURN_IF_ERROR(LoadEpoch());
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

void LeasePool::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    woken_ = true;
  }
  arrived_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  std::vector<Answered> waiting;
  {
    MutexLock lock(state_mutex_);
    for (Call& call : calls_) waiting.push_back(std::move(call.answered));
    calls_.clear();
    MutexLock inbox_lock(mutex_);
    for (Call& call : inbox_.calls) {
      waiting.push_back(std::move(call.answered));
    }
    inbox_.calls.clear();
  }
  for (const Answered& answered : waiting) answered(Stopping());
}

void LeasePool::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!woken_ && clock_.Monotonic() < next_event_) {
        clock_.WaitUntil(mutex_, arrived_, next_event_);
      }
      if (stopping_) return;
    }
    Pump();
  }
}

void LeasePool::Wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  arrived_.NotifyAll();
}

void LeasePool::Pump() {
  std::vector<Reply> replies;
  {
    MutexLock lock(state_mutex_);
    Inbox inbox;
    {
      MutexLock inbox_lock(mutex_);
      woken_ = false;
      std::swap(inbox, inbox_);
    }
    gate_.Probe(clock_.Monotonic());
    SettleInbox(std::move(inbox));
    table_.WakeDelayed(clock_.Monotonic());
    // Finds URLs that have gone stale, which are then signed again.
    Grant();
    Refill();
    SubmitSigning();
    LookForStragglers();
    replies = TakeReplies();
    Publish();
  }
  for (Reply& reply : replies) reply.first(std::move(reply.second));
  if (listener_) listener_();
}

void LeasePool::SettleInbox(Inbox inbox) {
  std::optional<catalog::SweepGate::Pass> pass;
  if (options_.results_gate != nullptr) {
    pass.emplace(*options_.results_gate, catalog::SweepGate::Party::kWork);
  }
  TakeDownloads(std::move(inbox.downloads));
  for (Call& call : inbox.calls) TakeCall(std::move(call));
  DropCancelled(inbox.cancelled);
  ExpireLeases();
  CommitEndings();
}

absl::Status LeasePool::BeginBackup(catalog::BackupNumber backup,
                                    absl::Time create_time) {
  {
    MutexLock lock(state_mutex_);
    if (backup_ == backup) return absl::OkStatus();
    backup_ = backup;
    signer_->ForgetRefusals();
    create_time_ = create_time;
    cursor_ = 0;
    bytes_moved_ = 0;
    drained_ = false;
    credential_problem_.clear();
    catalog_problem_ = absl::OkStatus();
    table_.Clear();
    ABSL_RETURN_IF_ERROR(
        RestoreLeases(clock_.Monotonic() + options_.lease_life));
    MutexLock inbox_lock(mutex_);
    more_pending_ = true;
    listing_done_ = false;
    stats_.drained = false;
    stats_.credential_problem.clear();
  }
  Wake();
  return absl::OkStatus();
}

void LeasePool::NotifyPending() {
  MutexLock lock(mutex_);
  more_pending_ = true;
  woken_ = true;
  arrived_.NotifyAll();
}

void LeasePool::SetListingDone() {
  MutexLock lock(mutex_);
  more_pending_ = true;
  listing_done_ = true;
  woken_ = true;
  arrived_.NotifyAll();
}

void LeasePool::EndBackup() {
  signer_->CancelCalls();
  {
    MutexLock lock(state_mutex_);
    backup_.reset();
    table_.Clear();
    drained_ = false;
    // Their holders learn at once that nothing of theirs is wanted.
    for (Call& call : calls_) {
      for (const HeldLease& lease : call.report.held) {
        call.answer.revoked.push_back(lease.transfer_id);
      }
    }
    MutexLock inbox_lock(mutex_);
    stats_.drained = false;
  }
  // And what the pool's thread has submitted meanwhile.
  signer_->CancelCalls();
  Wake();
}

int64_t LeasePool::NextSequence() {
  MutexLock lock(mutex_);
  return ++sequence_;
}

int64_t LeasePool::Synchronize(WorkerReport report, Answered answered) {
  {
    MutexLock lock(mutex_);
    if (!stopping_) {
      Call call;
      call.sequence = ++sequence_;
      call.report = std::move(report);
      call.answered = std::move(answered);
      call.deadline = clock_.Monotonic() + options_.max_hold;
      inbox_.calls.push_back(std::move(call));
      woken_ = true;
      arrived_.NotifyAll();
      return sequence_;
    }
  }
  answered(Stopping());
  return 0;
}

void LeasePool::CancelCall(int64_t call) {
  MutexLock lock(mutex_);
  inbox_.cancelled.insert(call);
  woken_ = true;
  arrived_.NotifyAll();
}

absl::StatusOr<bim360::SignedDownload> LeasePool::ResolveDownload(
    absl::string_view worker_id, int64_t transfer_id, int64_t epoch,
    const std::stop_token& cancel) {
  std::string storage_urn;
  {
    MutexLock lock(state_mutex_);
    LeaseTable::Entry* entry = table_.Find(transfer_id);
    if (entry == nullptr || entry->state != LeaseTable::State::kLeased ||
        entry->epoch != epoch || entry->worker_id != worker_id) {
      return absl::FailedPreconditionError(
          absl::StrCat("the lease of transfer ", transfer_id, " was lost"));
    }
    if (entry->resolved >= kMaxResolved) {
      return absl::ResourceExhaustedError(
          absl::StrCat("transfer ", transfer_id, " was signed ", kMaxResolved,
                       " times in one lease"));
    }
    ++entry->resolved;
    // What it had is refused or stale, for a successor too.
    entry->download.reset();
    storage_urn = entry->transfer.storage_urn;
  }
  return signer_->SignNow(storage_urn, cancel);
}

std::vector<WorkerInfo> LeasePool::ListWorkers() const {
  MutexLock lock(mutex_);
  return listed_;
}

absl::StatusOr<WorkerInfo> LeasePool::DrainWorker(absl::string_view worker_id) {
  {
    MutexLock lock(state_mutex_);
    if (!workers_.Drain(worker_id)) {
      return absl::NotFoundError(absl::StrCat("no worker \"", worker_id,
                                              "\" has synchronized lately"));
    }
    Publish();
  }
  Wake();
  for (WorkerInfo& worker : ListWorkers()) {
    if (worker.worker_id == worker_id) return worker;
  }
  return absl::NotFoundError(absl::StrCat("no worker \"", worker_id, "\""));
}

absl::Status LeasePool::SetBandwidth(absl::string_view worker_id,
                                     int64_t bytes_per_second) {
  MutexLock lock(mutex_);
  if (worker_id.empty()) {
    bandwidth_.SetFleet(bytes_per_second);
  } else if (std::any_of(listed_.begin(), listed_.end(),
                         [worker_id](const WorkerInfo& worker) {
                           return worker.worker_id == worker_id;
                         })) {
    bandwidth_.SetWorker(worker_id, bytes_per_second);
  } else {
    return absl::NotFoundError(
        absl::StrCat("no worker \"", worker_id, "\" has synchronized lately"));
  }
  woken_ = true;
  arrived_.NotifyAll();
  return absl::OkStatus();
}

BandwidthShares LeasePool::bandwidth() const {
  MutexLock lock(mutex_);
  return bandwidth_;
}

PoolStats LeasePool::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

}  // namespace bimbackup::lease
