#include "clients/snapshots/cursor_cache.h"

#include <algorithm>
#include <utility>

namespace bimbackup::snapshots {

std::unique_ptr<EntryCursor> CursorCache::Take(const EntryPosition& position) {
  std::list<Kept> expired;
  MutexLock lock(mutex_);
  expired = TakeExpired();
  const auto found = std::find_if(
      kept_.begin(), kept_.end(),
      [&](const Kept& kept) { return kept.cursor->position() == position; });
  if (found == kept_.end()) return nullptr;
  std::unique_ptr<EntryCursor> cursor = std::move(found->cursor);
  kept_.erase(found);
  return cursor;
}

void CursorCache::Put(std::unique_ptr<EntryCursor> cursor) {
  std::list<Kept> dropped;
  MutexLock lock(mutex_);
  dropped = TakeExpired();
  kept_.push_back({std::move(cursor), clock_.Monotonic() + lifetime_});
  if (kept_.size() > max_cursors_) {
    dropped.splice(dropped.end(), kept_, kept_.begin());
  }
}

void CursorCache::DropExpired() {
  std::list<Kept> expired;
  MutexLock lock(mutex_);
  expired = TakeExpired();
}

std::list<CursorCache::Kept> CursorCache::TakeExpired() {
  const absl::Duration now = clock_.Monotonic();
  auto end = kept_.begin();
  while (end != kept_.end() && end->expires <= now) ++end;
  std::list<Kept> expired;
  expired.splice(expired.end(), kept_, kept_.begin(), end);
  return expired;
}

}  // namespace bimbackup::snapshots
