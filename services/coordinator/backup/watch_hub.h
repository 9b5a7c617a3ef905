// Tells whoever watches a backup what has changed.

#ifndef SERVICES_COORDINATOR_BACKUP_WATCH_HUB_H_
#define SERVICES_COORDINATOR_BACKUP_WATCH_HUB_H_

#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/backup/backup_view.h"

namespace bimbackup::backup {

// Calls every watcher at most four times a second, when something may have
// changed and at least once a second, until its backup has ended. Thread-safe.
class WatchHub {
 public:
  // Called on the hub's thread, under no lock. The last view has ended.
  using Watcher = std::function<void(const BackupView&)>;
  using Viewer =
      std::function<absl::StatusOr<BackupView>(catalog::BackupNumber)>;

  // `view` makes the view of a backup; `clock` outlives the hub.
  WatchHub(Viewer view, Clock& clock);
  ~WatchHub();

  // The first call comes at once. Returns a number for Unwatch().
  int64_t Watch(catalog::BackupNumber backup, Watcher watcher);
  // A call that is under way may still come.
  void Unwatch(int64_t watch);

  // Something may have changed; `at_once` where it must not wait.
  void Notify(bool at_once);

 private:
  struct Watching {
    catalog::BackupNumber backup;
    Watcher watcher;
  };

  void Run();
  bool WaitForWork() ABSL_LOCKS_EXCLUDED(mutex_);
  void ShowAll() ABSL_LOCKS_EXCLUDED(mutex_);

  const Viewer view_;
  Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<int64_t, Watching> watching_ ABSL_GUARDED_BY(mutex_);
  int64_t last_watch_ ABSL_GUARDED_BY(mutex_) = 0;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  bool at_once_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Duration shown_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  std::thread thread_;
};

}  // namespace bimbackup::backup

#endif  // SERVICES_COORDINATOR_BACKUP_WATCH_HUB_H_
