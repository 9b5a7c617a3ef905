// What comes in: signed URLs, workers' reports, the passing of time.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::lease {
namespace {

// How long a worker whose waiting call was cut has to call again: a worker
// that lives does so at once.
constexpr absl::Duration kReconnect = absl::Seconds(5);

}  // namespace

void LeasePool::TakeDownloads(std::vector<Signed> downloads) {
  for (Signed& item : downloads) {
    if (item.download.ok()) {
      table_.SetSigned(item.transfer_id, *std::move(item.download));
      continue;
    }
    const absl::Status& status = item.download.status();
    if (absl::IsCancelled(status)) {
      // The coordinator stops: this is no failure of the transfer's.
      table_.Delay(item.transfer_id, clock_.Monotonic() + kReconnect,
                   /*sign_again=*/false);
      continue;
    }
    if (absl::IsUnauthenticated(status)) {
      credential_problem_ =
          std::string(status.message().data(), status.message().size());
    }
    settler_.AddSigningFailure(item.transfer_id, status);
  }
}

void LeasePool::TakeCall(Call call) {
  const std::string& worker_id = call.report.worker_id;
  const absl::Duration now = clock_.Monotonic();
  for (Call& earlier : calls_) {
    if (earlier.report.worker_id == worker_id) earlier.due = true;
  }
  workers_.Report(call.report, now, clock_.Now());
  if (!call.report.storage_problem.empty()) gate_.Check(now);
  for (const int64_t id : table_.Unnamed(call.report, call.sequence)) {
    spdlog::debug("worker {} never got the lease of transfer {}", worker_id,
                  id);
    settler_.AddLoss(
        id, Outcome::kReleased,
        absl::StrCat("the lease never reached worker ", worker_id));
  }
  call.answer.revoked = table_.Renew(worker_id, call.report.held, now);
  // What has ended is held, too, until it can be counted.
  std::vector<HeldLease> ended;
  for (const TransferResult& result : call.report.results) {
    ended.push_back({result.transfer_id, result.epoch, result.bytes_received});
  }
  table_.Renew(worker_id, ended, now);
  TakeResults(call);
  calls_.push_back(std::move(call));
}

void LeasePool::TakeResults(Call& call) {
  for (const TransferResult& result : call.report.results) {
    switch (settler_.AddResult(call.report.worker_id, result)) {
      case Settler::Acknowledge::kNow:
        call.answer.acknowledged.push_back(result.transfer_id);
        break;
      case Settler::Acknowledge::kAfterCommit:
        call.settling.push_back(result.transfer_id);
        bytes_moved_ += result.bytes_received;
        break;
      case Settler::Acknowledge::kNotYet:
        call.due = true;
        call.status = absl::UnavailableError(
            gate_.open() ? "the result cannot be counted now; repeat it"
                         : gate_.problem().message());
        break;
    }
  }
}

void LeasePool::DropCancelled(const std::set<int64_t>& cancelled) {
  for (Call& call : calls_) {
    if (!cancelled.contains(call.sequence)) continue;
    call.due = true;
    call.status = absl::CancelledError("the caller has gone");
    const std::string& worker_id = call.report.worker_id;
    const bool called_again =
        std::any_of(calls_.begin(), calls_.end(), [&](const Call& other) {
          return other.report.worker_id == worker_id &&
                 other.sequence > call.sequence;
        });
    if (!called_again) {
      table_.ShortenLeases(worker_id, clock_.Monotonic() + kReconnect);
    }
  }
}

void LeasePool::ExpireLeases() {
  const absl::Duration now = clock_.Monotonic();
  for (const int64_t id : table_.Expired(now)) {
    settler_.AddLoss(id, Outcome::kUnspecified,
                     absl::StrCat("worker ", table_.Find(id)->worker_id,
                                  " was not heard of any more"));
  }
  workers_.Forget(now);
}

void LeasePool::CommitEndings() {
  absl::Status status;
  // Also where no backup is open: what it left behind may still come.
  if (!settler_.empty()) {
    status = settler_.Commit(backup_.value_or(0));
    NoteCatalog(status);
  }
  for (Call& call : calls_) {
    if (call.settling.empty()) continue;
    if (status.ok()) {
      call.answer.acknowledged.insert(call.answer.acknowledged.end(),
                                      call.settling.begin(),
                                      call.settling.end());
    } else {
      call.due = true;
      call.status = absl::UnavailableError(status.message());
    }
    call.settling.clear();
  }
  if (!status.ok()) {
    spdlog::error("results could not be committed: {}", status);
    return;
  }
  for (const auto& [worker_id, count] : settler_.TakeStored()) {
    workers_.CountStored(worker_id, count);
  }
  for (const auto& [worker_id, ids] : settler_.TakeRevoked()) {
    for (Call& call : calls_) {
      if (call.report.worker_id != worker_id) continue;
      call.answer.revoked.insert(call.answer.revoked.end(), ids.begin(),
                                 ids.end());
    }
  }
}

std::set<std::string> LeasePool::BandwidthUsers(absl::Duration now) const {
  std::set<std::string> holders = table_.Holders();
  return holders.empty() ? workers_.ActiveIds(now) : holders;
}

bool LeasePool::IsDue(Call& call, absl::Duration now) {
  const bool told_to_drain =
      workers_.IsDraining(call.report.worker_id) && !call.report.draining;
  call.answer.drain = told_to_drain;
  const bool news = !call.answer.granted.empty() ||
                    !call.answer.revoked.empty() ||
                    !call.answer.acknowledged.empty() || told_to_drain;
  // What was counted must be told, or it is lost with the error.
  if (news) call.status = absl::OkStatus();
  return call.due || news || !call.report.may_hold || now >= call.deadline;
}

std::vector<LeasePool::Reply> LeasePool::TakeReplies() {
  const absl::Duration now = clock_.Monotonic();
  const BandwidthShares bandwidth = this->bandwidth();
  const std::set<std::string> users = BandwidthUsers(now);
  const std::map<std::string, int64_t> shares = bandwidth.Divide(users);
  std::vector<Reply> replies;
  std::deque<Call> kept;
  for (Call& call : calls_) {
    const std::string& worker_id = call.report.worker_id;
    const auto share = shares.find(worker_id);
    // Others receive nothing: there is no hurry to tell them.
    const bool new_share = share != shares.end() &&
                           share->second != workers_.ToldBandwidth(worker_id);
    if (!IsDue(call, now) && !new_share) {
      kept.push_back(std::move(call));
      continue;
    }
    call.answer.backup_running = backup_.has_value();
    call.answer.lease_life = options_.lease_life;
    call.answer.max_bandwidth = share != shares.end()
                                    ? share->second
                                    : bandwidth.OfJoining(worker_id, users);
    if (call.status.ok()) {
      workers_.SetToldBandwidth(worker_id, call.answer.max_bandwidth);
      replies.emplace_back(std::move(call.answered), std::move(call.answer));
    } else {
      replies.emplace_back(std::move(call.answered), std::move(call.status));
    }
  }
  calls_ = std::move(kept);
  return replies;
}

void LeasePool::NoteCatalog(const absl::Status& status) {
  if (status.ok() && catalog_problem_.ok()) return;
  catalog_problem_ = status;
}

Pause LeasePool::CurrentPause(absl::Duration now) const {
  if (!gate_.open()) return MakePause(gate_.problem());
  if (!catalog_problem_.ok()) return MakePause(catalog_problem_);
  return workers_.CountActive(now) == 0 ? workers_.FindPause(now) : Pause();
}

void LeasePool::Publish() {
  const absl::Duration now = clock_.Monotonic();
  absl::Duration next = std::min(
      {table_.NextEvent(), gate_.next_probe(), workers_.NextForgotten()});
  for (const Call& call : calls_) next = std::min(next, call.deadline);
  if (catalog_retry_ > now) next = std::min(next, catalog_retry_);
  std::vector<WorkerInfo> listed = workers_.List();
  std::set<std::string> listed_ids;
  for (WorkerInfo& worker : listed) {
    worker.leases = table_.LeasesOf(worker.worker_id);
    listed_ids.insert(worker.worker_id);
  }
  PoolStats stats{.ready = table_.ready(),
                  .signing = table_.signing(),
                  .leased = table_.leased(),
                  .waiting = table_.waiting() + table_.delayed(),
                  .workers = workers_.CountActive(now),
                  .free_slots = workers_.FreeSlots(now),
                  .bytes_moved = bytes_moved_ + table_.bytes_under_way(),
                  .pause = CurrentPause(now),
                  .credential_problem = credential_problem_,
                  .signed_by_a_call = signer_->signed_by_a_call(),
                  .drained = drained_};
  MutexLock lock(mutex_);
  stats_ = std::move(stats);
  listed_ = std::move(listed);
  bandwidth_.KeepOnly(listed_ids);
  next_event_ = next;
}

}  // namespace bimbackup::lease
