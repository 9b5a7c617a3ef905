#include "services/coordinator/lease/settler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {
namespace {

using catalog::TransferState;

// How soon what the catalog did not take is looked at again.
constexpr absl::Duration kCommitRetry = absl::Seconds(5);

std::string ToString(absl::string_view text) {
  return std::string(text.data(), text.size());
}

catalog::AttemptRecord MakeAttempt(absl::string_view worker_id,
                                   const TransferResult& result,
                                   absl::Time now) {
  return {.end_time = now,
          .worker_id = ToString(worker_id),
          .outcome = static_cast<int>(result.outcome),
          .http_status = result.http_status,
          .bytes_received = result.bytes_received,
          .message = result.message};
}

bool IsStorageTrouble(Outcome outcome) {
  return outcome == Outcome::kStorageFailed ||
         outcome == Outcome::kStorageClosed;
}

std::string FailureReason(const Tally& tally, const TransferResult& result) {
  const int attempts = tally.retryable + tally.refused + tally.not_found +
                       tally.corrupt + tally.storage_failed + tally.losses;
  if (attempts <= 1) return result.message;
  return absl::StrCat(result.message, " (attempt ", attempts, ", the last)");
}

}  // namespace

bool OnlyListingHasSize(const bim360::SignedDownload& download,
                        const catalog::TransferRecord& transfer) {
  return transfer.size.has_value() && !download.size.has_value() &&
         !download.ranges.empty() && download.ranges.back().last == -1;
}

Settler::Settler(LeaseTable& table, catalog::TransferStore& store,
                 storage::Storage& storage, StorageGate& gate, Clock& clock,
                 Random& random)
    : table_(table),
      store_(store),
      storage_(storage),
      gate_(gate),
      clock_(clock),
      random_(random) {}

Settler::Acknowledge Settler::AddResult(absl::string_view worker_id,
                                        const TransferResult& result) {
  if (settled_.contains(result.transfer_id)) return Acknowledge::kNotYet;
  const LeaseTable::Entry* entry = table_.Find(result.transfer_id);
  const bool current = entry != nullptr && entry->epoch == result.epoch &&
                       entry->worker_id == worker_id;
  if (!current) return AddLate(worker_id, result);
  if (result.outcome == Outcome::kStored) {
    return AddStored(worker_id, result, true);
  }
  if (IsStorageTrouble(result.outcome)) {
    // The worker has paused itself. Whether it was alone with its trouble, such
    // as a mount of its own, shows only from here.
    gate_.Check(clock_.Monotonic());
  }
  AddFailure(worker_id, result, /*own=*/false);
  return Acknowledge::kAfterCommit;
}

// A lease that was lost, or one of a process or backup before this: only a
// whole blob counts, also where the transfer has failed meanwhile. What else
// befell it is kept for people.
Settler::Acknowledge Settler::AddLate(absl::string_view worker_id,
                                      const TransferResult& result) {
  if (result.outcome == Outcome::kReleased) return Acknowledge::kNow;
  if (table_.Find(result.transfer_id) == nullptr) {
    const auto transfer = store_.GetTransfer(result.transfer_id);
    if (absl::IsNotFound(transfer.status())) return Acknowledge::kNow;
    if (!transfer.ok()) return Acknowledge::kNotYet;
    if (transfer->state == TransferState::kStored) return Acknowledge::kNow;
    // Nobody can tell any more whether signing gave another size.
    if (result.outcome == Outcome::kStored &&
        transfer->state == TransferState::kFailed &&
        transfer->size.value_or(result.size) != result.size) {
      return Acknowledge::kNow;
    }
  }
  if (result.outcome == Outcome::kStored) {
    return AddStored(worker_id, result, false);
  }
  AddLateAttempt(worker_id, result);
  return Acknowledge::kAfterCommit;
}

void Settler::AddLateAttempt(absl::string_view worker_id,
                             const TransferResult& result) {
  Ending ending;
  ending.id = result.transfer_id;
  ending.worker_id = ToString(worker_id);
  ending.update.transfer_id = result.transfer_id;
  ending.update.attempt_only = true;
  ending.update.attempt = MakeAttempt(worker_id, result, clock_.Now());
  ending.update.attempt->late = true;
  settled_.insert(result.transfer_id);
  endings_.push_back(std::move(ending));
}

Settler::Acknowledge Settler::AddStored(absl::string_view worker_id,
                                        const TransferResult& result,
                                        bool current) {
  if (!gate_.CheckMarker(clock_.Monotonic()).ok()) {
    return Acknowledge::kNotYet;
  }
  const absl::StatusOr<int64_t> size = storage_.GetBlobSize(result.sha256);
  if (!size.ok() && !absl::IsNotFound(size.status()) &&
      !absl::IsInvalidArgument(size.status())) {
    gate_.Close(size.status(), clock_.Monotonic());
    return Acknowledge::kNotYet;
  }
  if (!size.ok() || *size != result.size) {
    if (!current) return Acknowledge::kNow;
    TransferResult missing = result;
    missing.outcome = Outcome::kRetryable;
    missing.message = absl::StrCat(
        "worker ", worker_id, " reported a blob of ", result.size,
        " bytes that is not in the storage: does it write to another folder?");
    AddFailure(worker_id, missing, /*own=*/false);
    return Acknowledge::kAfterCommit;
  }
  const LeaseTable::Entry* entry =
      current ? table_.Find(result.transfer_id) : nullptr;
  if (entry != nullptr && entry->download.has_value() &&
      OnlyListingHasSize(*entry->download, entry->transfer) &&
      *entry->transfer.size != result.size) {
    TransferResult cut = result;
    cut.outcome = Outcome::kCorrupt;
    cut.message = absl::StrCat(result.size, " bytes came of the ",
                               *entry->transfer.size, " that are listed");
    AddFailure(worker_id, cut, /*own=*/false);
    return Acknowledge::kAfterCommit;
  }
  Ending ending;
  ending.id = result.transfer_id;
  ending.late = !current;
  ending.worker_id = ToString(worker_id);
  ending.update.transfer_id = result.transfer_id;
  ending.update.state = TransferState::kStored;
  ending.update.sha256 = result.sha256;
  ending.update.size = result.size;
  ending.update.attempt = MakeAttempt(worker_id, result, clock_.Now());
  ending.update.attempt->late = ending.late;
  settled_.insert(result.transfer_id);
  endings_.push_back(std::move(ending));
  return Acknowledge::kAfterCommit;
}

void Settler::AddLoss(int64_t id, Outcome outcome, absl::string_view reason) {
  const LeaseTable::Entry* entry = table_.Find(id);
  if (entry == nullptr || settled_.contains(id)) return;
  TransferResult loss;
  loss.transfer_id = id;
  loss.outcome = outcome;
  loss.message = ToString(reason);
  AddFailure(entry->worker_id, loss, /*own=*/true);
}

void Settler::AddSigningFailure(int64_t id, const absl::Status& status) {
  const LeaseTable::Entry* entry = table_.Find(id);
  if (entry == nullptr || settled_.contains(id) ||
      entry->state != LeaseTable::State::kSigning) {
    return;
  }
  TransferResult failure;
  failure.transfer_id = id;
  failure.outcome = OutcomeOfSigning(status);
  failure.message = absl::StrCat("signing: ", status.message());
  AddFailure("", failure, /*own=*/true);
}

void Settler::AddFailure(absl::string_view worker_id,
                         const TransferResult& result, bool own) {
  const LeaseTable::Entry* entry = table_.Find(result.transfer_id);
  Ending ending;
  ending.id = result.transfer_id;
  ending.tally = entry->tally;
  ending.own = own;
  ending.worker_id = ToString(worker_id);
  // A storage that is full, denied or gone is no attempt of the transfer's.
  const bool counts =
      !IsStorageTrouble(result.outcome) ||
      (result.outcome == Outcome::kStorageFailed && gate_.open());
  if (counts) ending.tally.Count(result.outcome);
  const Verdict verdict = JudgeOutcome(result.outcome, ending.tally, random_);
  ending.retry = verdict.retry;
  ending.not_before = clock_.Monotonic() + verdict.delay;
  ending.sign_again = verdict.sign_again;
  // A worker that was thought lost keeps what nobody else has yet.
  ending.fence = result.outcome != Outcome::kUnspecified;
  ending.update.transfer_id = result.transfer_id;
  ending.update.state =
      verdict.retry ? TransferState::kPending : TransferState::kFailed;
  if (!verdict.retry) {
    ending.update.reason = FailureReason(ending.tally, result);
  }
  if (counts) {
    ending.update.attempt = MakeAttempt(worker_id, result, clock_.Now());
  }
  ending.message = result.message;
  settled_.insert(result.transfer_id);
  endings_.push_back(std::move(ending));
}

absl::Status Settler::Commit(catalog::BackupNumber backup) {
  if (endings_.empty()) return absl::OkStatus();
  std::vector<catalog::TransferUpdate> updates;
  for (const Ending& ending : endings_) updates.push_back(ending.update);
  MaybeCrash("coordinator.before_results_commit");
  const absl::Status status = store_.ApplyUpdates(backup, updates);
  const absl::Duration later = clock_.Monotonic() + kCommitRetry;
  for (const Ending& ending : endings_) {
    if (status.ok()) {
      Perform(ending);
    } else if (ending.own) {
      table_.Delay(ending.id, later, /*sign_again=*/false);
    }
  }
  endings_.clear();
  settled_.clear();
  return status;
}

void Settler::Perform(const Ending& ending) {
  if (ending.update.attempt_only) return;
  LeaseTable::Entry* entry = table_.Find(ending.id);
  if (ending.update.state == TransferState::kStored) {
    ++stored_[ending.worker_id];
    if (ending.late && entry != nullptr &&
        entry->state == LeaseTable::State::kLeased) {
      revoked_[entry->worker_id].push_back(ending.id);
    }
  } else if (!ending.retry) {
    spdlog::warn("transfer {} failed: {}", ending.id, ending.update.reason);
  } else {
    spdlog::debug("transfer {} goes back: {}", ending.id, ending.message);
  }
  if (!ending.retry) {
    table_.Remove(ending.id);
    return;
  }
  if (entry == nullptr) return;
  entry->tally = ending.tally;
  table_.Delay(ending.id, ending.not_before, ending.sign_again);
  if (ending.fence) entry->epoch = 0;
}

std::map<std::string, std::vector<int64_t>> Settler::TakeRevoked() {
  return std::exchange(revoked_, {});
}

std::map<std::string, int64_t> Settler::TakeStored() {
  return std::exchange(stored_, {});
}

}  // namespace bimbackup::lease
