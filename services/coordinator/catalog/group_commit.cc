#include "services/coordinator/catalog/group_commit.h"

#include <algorithm>
#include <utility>

namespace bimbackup::catalog {
namespace {

// Bounds a transaction, and so how long the first of a batch waits.
constexpr size_t kMaxBatch = 64;

}  // namespace

GroupCommit::GroupCommit(std::unique_ptr<Database> database)
    : database_(std::move(database)) {}

absl::Status GroupCommit::Commit(const Operation& operation) {
  Waiter self;
  self.operation = &operation;
  std::vector<Waiter*> batch;
  {
    MutexLock lock(mutex_);
    queue_.push_back(&self);
    while (!self.done && queue_.front() != &self) self.changed.Wait(mutex_);
    if (self.done) return self.status;
    batch.assign(queue_.begin(),
                 queue_.begin() + std::min(queue_.size(), kMaxBatch));
  }
  RunBatch(batch);
  MutexLock lock(mutex_);
  queue_.erase(queue_.begin(), queue_.begin() + batch.size());
  for (Waiter* waiter : batch) {
    waiter->done = true;
    if (waiter != &self) waiter->changed.NotifyOne();
  }
  if (!queue_.empty()) queue_.front()->changed.NotifyOne();
  return self.status;
}

void GroupCommit::RunBatch(const std::vector<Waiter*>& batch) {
  const absl::Status status = RunTransaction(batch);
  if (status.ok()) return;
  if (batch.size() == 1 || absl::IsResourceExhausted(status)) {
    for (Waiter* waiter : batch) waiter->status = status;
    return;
  }
  // One of them spoilt it for all: each gets its own answer.
  for (Waiter* waiter : batch) {
    const absl::Status own = RunTransaction({waiter});
    if (!own.ok()) waiter->status = own;
  }
}

absl::Status GroupCommit::RunTransaction(const std::vector<Waiter*>& batch) {
  Run(*database_, "BEGIN IMMEDIATE");
  WriteBatch writes(*database_);
  for (Waiter* waiter : batch) {
    waiter->status = (*waiter->operation)(writes);
  }
  writes.Flush();
  Run(*database_, "COMMIT");
  absl::Status status = database_->TakeStatus();
  if (!status.ok()) {
    // Some errors have rolled it back already; then this one has nothing to
    // do, and its complaint is of no interest.
    Run(*database_, "ROLLBACK");
    database_->TakeStatus().IgnoreError();
  }
  return status;
}

}  // namespace bimbackup::catalog
