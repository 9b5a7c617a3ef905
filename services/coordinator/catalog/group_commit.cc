#include "services/coordinator/catalog/group_commit.h"

#include <algorithm>
#include <utility>

namespace bimbackup::catalog {
namespace {

// Bound a transaction, but for its last operation, and so how long whoever
// comes meanwhile waits.
constexpr size_t kMaxBatch = 64;
constexpr absl::Duration kMaxTime = absl::Milliseconds(10);

// A transaction writes some twenty pages of its own, so that few for many
// operations save much. Once so many are in it, it waits for no more.
constexpr size_t kWorthwhile = 32;
// How long it waits for the next.
constexpr absl::Duration kLinger = absl::Milliseconds(4);

}  // namespace

GroupCommit::GroupCommit(std::unique_ptr<Database> database, Clock& clock)
    : database_(std::move(database)), hashes_(*database_), clock_(clock) {}

absl::Status GroupCommit::Commit(const Operation& operation, Urgency urgency) {
  Waiter self;
  self.operation = &operation;
  self.urgency = urgency;
  {
    MutexLock lock(mutex_);
    (urgency == Urgency::kUrgent ? urgent_ : others_).push_back(&self);
    came_.NotifyOne();
    while (!self.done && (running_ || Next() != &self)) {
      self.changed->Wait(mutex_);
    }
    if (self.done) return self.status;
    running_ = true;
    urgent_ran_ = urgency == Urgency::kUrgent;
    (urgent_ran_ ? urgent_ : others_).pop_front();
  }
  const std::vector<Waiter*> batch = RunBatch(&self);
  std::vector<std::shared_ptr<CondVar>> woken;
  {
    MutexLock lock(mutex_);
    running_ = false;
    if (std::none_of(batch.begin(), batch.end(), IsUrgent)) {
      last_size_ = batch.size();
    }
    if (Waiter* const next = Next()) woken.push_back(next->changed);
    for (Waiter* waiter : batch) {
      waiter->done = true;
      if (waiter != &self) woken.push_back(waiter->changed);
    }
  }
  for (const auto& changed : woken) changed->NotifyOne();
  return self.status;
}

int GroupCommit::waiting() const {
  MutexLock lock(mutex_);
  return static_cast<int>(urgent_.size() + others_.size());
}

bool GroupCommit::IsUrgent(const Waiter* waiter) {
  return waiter->urgency == Urgency::kUrgent;
}

GroupCommit::Waiter* GroupCommit::Next() const {
  if (!others_.empty() && (urgent_.empty() || urgent_ran_)) {
    return others_.front();
  }
  return urgent_.empty() ? nullptr : urgent_.front();
}

GroupCommit::Waiter* GroupCommit::TakeFirst(bool urgent_only) {
  std::deque<Waiter*>& queue = urgent_.empty() ? others_ : urgent_;
  if (queue.empty() || (urgent_only && urgent_.empty())) return nullptr;
  Waiter* const first = queue.front();
  queue.pop_front();
  return first;
}

GroupCommit::Waiter* GroupCommit::AwaitFirst(bool urgent_only, size_t size) {
  MutexLock lock(mutex_);
  const bool many_come = last_size_ > 1 && size < kWorthwhile;
  if (urgent_.empty() && others_.empty() && many_come && !urgent_only) {
    // Once: should it wake for nothing, nothing is lost but a chance.
    clock_.WaitUntil(mutex_, came_, clock_.Monotonic() + kLinger);
  }
  return TakeFirst(urgent_only);
}

std::vector<GroupCommit::Waiter*> GroupCommit::RunBatch(Waiter* first) {
  std::vector<Waiter*> batch = {first};
  const absl::Status status = RunTransaction(batch, /*gather=*/true);
  if (status.ok()) return batch;
  if (batch.size() == 1 || absl::IsResourceExhausted(status)) {
    for (Waiter* waiter : batch) waiter->status = status;
    return batch;
  }
  // One of them spoilt it for all: each gets its own answer.
  for (Waiter* waiter : batch) {
    std::vector<Waiter*> alone = {waiter};
    const absl::Status own = RunTransaction(alone, /*gather=*/false);
    if (!own.ok()) waiter->status = own;
  }
  return batch;
}

absl::Status GroupCommit::RunTransaction(std::vector<Waiter*>& batch,
                                         bool gather) {
  const absl::Duration full = clock_.Monotonic() + kMaxTime;
  Run(*database_, "BEGIN IMMEDIATE");
  WriteBatch writes(*database_, hashes_);
  bool urgent = false;
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->status = (*batch[i]->operation)(writes);
    // Nobody else is to be drawn into what is rolled back.
    if (!database_->ok()) break;
    urgent = urgent || IsUrgent(batch[i]);
    if (!gather || batch.size() == kMaxBatch || clock_.Monotonic() >= full) {
      continue;
    }
    if (Waiter* const next = AwaitFirst(urgent, batch.size())) {
      batch.push_back(next);
    }
  }
  writes.Flush();
  Run(*database_, "COMMIT");
  absl::Status status = database_->TakeStatus();
  if (!status.ok()) {
    // Some errors have rolled it back already; then this one has nothing to
    // do, and its complaint is of no interest.
    Run(*database_, "ROLLBACK");
    database_->TakeStatus().IgnoreError();
    hashes_.RolledBack();
  }
  return status;
}

}  // namespace bimbackup::catalog
