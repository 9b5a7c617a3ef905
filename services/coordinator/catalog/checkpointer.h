// Moves what is in SQLite's log into the database, beside those who write.

#ifndef SERVICES_COORDINATOR_CATALOG_CHECKPOINTER_H_
#define SERVICES_COORDINATOR_CATALOG_CHECKPOINTER_H_

#include <cstdint>
#include <memory>
#include <thread>

#include "services/common/mutex.h"
#include "services/coordinator/catalog/sqlite_database.h"

namespace bimbackup::catalog {

// A thread with a connection of its own. By itself SQLite does this within
// the commit that fills the log, and everybody who commits waits for the
// disk. Thread-safe.
class Checkpointer {
 public:
  explicit Checkpointer(std::unique_ptr<Database> database);
  ~Checkpointer();

  // The log has so many pages after a commit. Where it has grown long, because
  // commits never rest, waits until it is empty or somebody's reading keeps it
  // from being emptied.
  void Note(int64_t pages);

 private:
  void Run();
  // Waits until there are pages to be moved; false when it is to end.
  bool AwaitPages();
  // Moves all of them while nobody writes; whether the log is empty.
  bool Empty();

  // The thread's.
  const std::unique_ptr<Database> database_;

  Mutex mutex_;
  CondVar changed_;
  int64_t pages_ ABSL_GUARDED_BY(mutex_) = 0;
  // How long the log is to be before its pages are moved again, and before
  // writers wait for that.
  int64_t next_ ABSL_GUARDED_BY(mutex_);
  int64_t most_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CHECKPOINTER_H_
