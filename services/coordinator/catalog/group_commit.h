// Lets the writes of many threads share transactions.

#ifndef SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_
#define SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "services/common/mutex.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// The one writer. Whoever comes first runs, in one transaction, what all who
// came meanwhile want written; there is no thread of its own, and no more in
// the queue than there are callers. Thread-safe.
class GroupCommit {
 public:
  // Changes the database. May be run again after a transaction that failed.
  // Returns an error only before it has written anything; errors of the
  // database stick to the connection and need not be looked at.
  using Operation = std::function<absl::Status(WriteBatch&)>;

  explicit GroupCommit(std::unique_ptr<Database> database);

  // Runs `operation` in a transaction; returns when that is committed or
  // rolled back, with the operation's status or the transaction's.
  absl::Status Commit(const Operation& operation);

 private:
  struct Waiter {
    const Operation* operation = nullptr;
    absl::Status status;
    bool done = false;
    CondVar changed;
  };

  void RunBatch(const std::vector<Waiter*>& batch);
  absl::Status RunTransaction(const std::vector<Waiter*>& batch);

  // Used by the waiter at the head of the queue.
  const std::unique_ptr<Database> database_;

  Mutex mutex_;
  std::deque<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_GROUP_COMMIT_H_
