// Lets the writes of many threads share transactions.

#ifndef SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_
#define SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/catalog/known_hashes.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// The one writer. Whoever comes first runs, in one transaction, what all who
// came meanwhile want written, for some milliseconds; there is no thread of
// its own, and no more in the queues than there are callers. Thread-safe.
class GroupCommit {
 public:
  // Changes the database. May be run again after a transaction that failed.
  // Returns an error only before it has written anything; errors of the
  // database stick to the connection and need not be looked at.
  using Operation = std::function<absl::Status(WriteBatch&)>;

  // What is urgent goes before what is not, and into the transaction that is
  // under way, which then takes nothing else but what is urgent, too. Of two
  // transactions in a row the second begins with something that is not.
  enum class Urgency { kNormal, kUrgent };

  // `clock` outlives this.
  GroupCommit(std::unique_ptr<Database> database, Clock& clock);

  // Runs `operation` in a transaction; returns when that is committed or
  // rolled back, with the operation's status or the transaction's.
  absl::Status Commit(const Operation& operation,
                      Urgency urgency = Urgency::kNormal);

  // Callers whose operation has not been begun.
  int waiting() const;

 private:
  struct Waiter {
    const Operation* operation = nullptr;
    Urgency urgency = Urgency::kNormal;
    absl::Status status;
    bool done = false;
    // Outlives the wait, so that it can be notified when the mutex is free.
    const std::shared_ptr<CondVar> changed = std::make_shared<CondVar>();
  };

  static bool IsUrgent(const Waiter* waiter);
  // Who of those that wait runs the next transaction; null for nobody.
  Waiter* Next() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null where nobody waits, or only what is not urgent where `urgent_only`.
  Waiter* TakeFirst(bool urgent_only) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Who comes next into a transaction of `size` operations; null for nobody.
  // Where many come, it waits for them a little.
  Waiter* AwaitFirst(bool urgent_only, size_t size) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs what `first` wants, with what others want; returns all of them.
  std::vector<Waiter*> RunBatch(Waiter* first) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the batch, to which it adds who waits where it is to `gather`.
  absl::Status RunTransaction(std::vector<Waiter*>& batch, bool gather)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Used by whoever runs.
  const std::unique_ptr<Database> database_;
  KnownHashes hashes_;
  Clock& clock_;

  mutable Mutex mutex_;
  // For whoever runs, that somebody came.
  CondVar came_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  // Whether the last transaction was run by somebody urgent.
  bool urgent_ran_ ABSL_GUARDED_BY(mutex_) = false;
  // Operations of the last transaction in which nothing was urgent.
  size_t last_size_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Waiter*> urgent_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiter*> others_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_
