#include "services/coordinator/backup/watch_hub.h"

#include <utility>

#include "services/common/logging.h"

namespace bimbackup::backup {
namespace {

constexpr absl::Duration kShortest = absl::Milliseconds(250);
constexpr absl::Duration kLongest = absl::Seconds(1);

}  // namespace

WatchHub::WatchHub(Viewer view, Clock& clock)
    : view_(std::move(view)), clock_(clock), thread_([this] { Run(); }) {}

WatchHub::~WatchHub() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

int64_t WatchHub::Watch(catalog::BackupNumber backup, Watcher watcher) {
  MutexLock lock(mutex_);
  watching_[++last_watch_] = {backup, std::move(watcher)};
  at_once_ = true;
  changed_.NotifyAll();
  return last_watch_;
}

void WatchHub::Unwatch(int64_t watch) {
  MutexLock lock(mutex_);
  watching_.erase(watch);
}

void WatchHub::Notify(bool at_once) {
  MutexLock lock(mutex_);
  if (watching_.empty()) return;
  if (!at_once && notified_) return;
  notified_ = true;
  at_once_ = at_once_ || at_once;
  changed_.NotifyAll();
}

void WatchHub::Run() {
  while (WaitForWork()) ShowAll();
}

bool WatchHub::WaitForWork() {
  MutexLock lock(mutex_);
  while (!stopping_ && !at_once_) {
    if (watching_.empty()) {
      clock_.WaitUntil(mutex_, changed_, absl::InfiniteDuration());
      continue;
    }
    const absl::Duration due = shown_ + (notified_ ? kShortest : kLongest);
    if (clock_.Monotonic() >= due) break;
    clock_.WaitUntil(mutex_, changed_, due);
  }
  notified_ = false;
  at_once_ = false;
  shown_ = clock_.Monotonic();
  return !stopping_;
}

void WatchHub::ShowAll() {
  std::map<int64_t, Watching> watching;
  {
    MutexLock lock(mutex_);
    watching = watching_;
  }
  std::map<catalog::BackupNumber, absl::StatusOr<BackupView>> views;
  for (const auto& [number, watch] : watching) {
    auto it = views.find(watch.backup);
    if (it == views.end()) {
      it = views.emplace(watch.backup, view_(watch.backup)).first;
    }
    if (!it->second.ok()) {
      spdlog::warn("a watched backup cannot be read: {}", it->second.status());
      continue;
    }
    if (catalog::HasEnded(it->second->record.state)) Unwatch(number);
    watch.watcher(*it->second);
  }
}

}  // namespace bimbackup::backup
