// Makes finished blobs durable, many with one wait for the disk.

#ifndef CLIENTS_STORAGE_LOCAL_COMMIT_QUEUE_H_
#define CLIENTS_STORAGE_LOCAL_COMMIT_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/temporary_blob.h"
#include "services/common/mutex.h"

namespace bimbackup::storage::local {

// A blob that waits to be committed.
struct PendingCommit {
  std::shared_ptr<TemporaryBlob> blob;
  std::string sha256;
  int64_t size = 0;
  std::function<void(absl::Status)> done;
};

// One thread turns a wheel: take whatever has come meanwhile, wait for the
// disk once, which makes durable the bytes of these and the new names of the
// turn before; report those, move these. A lone blob waits for its own file
// and folder only. Thread-safe.
class CommitQueue {
 public:
  // `folders` outlives the queue. Unless `sync_together`, each file and
  // folder is waited for by itself, as SyncReachesDisk() tells.
  CommitQueue(const StorageFolders& folders, bool sync_together);

  // Commits what has been added, then ends.
  ~CommitQueue();

  // Calls `done` on the queue's thread; on this one, with UNAVAILABLE, when
  // far too many are waiting.
  void Add(PendingCommit commit);

 private:
  using Group = std::vector<PendingCommit>;

  void Run();
  // Waits for work if `wait`; empty also when the queue ends.
  Group Take(bool wait);
  // Drops from `group`, and reports, what is not fit to be committed.
  void Prepare(Group& group);
  // Makes durable the bytes of `written` and the names of `moved`; drops and
  // reports those where that failed.
  void Sync(Group& written, Group& moved);
  void Move(Group& group);
  // Keeps in `group` those for which `step` is OK and reports the others.
  static void Filter(Group& group,
                     const std::function<absl::Status(PendingCommit&)>& step);
  static void Report(PendingCommit commit, const absl::Status& status);

  const StorageFolders& folders_;
  const bool sync_together_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<PendingCommit> waiting_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_COMMIT_QUEUE_H_
