// Cursors of lists that are read page by page, kept for their next page.

#ifndef CLIENTS_SNAPSHOTS_CURSOR_CACHE_H_
#define CLIENTS_SNAPSHOTS_CURSOR_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>

#include "absl/time/time.h"
#include "clients/snapshots/entry_cursor.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::snapshots {

// A few cursors, each for a while: without theirs, a page costs reading its
// manifest from the start. Thread-safe.
class CursorCache {
 public:
  // `clock` outlives the cache.
  CursorCache(Clock& clock, size_t max_cursors, absl::Duration lifetime)
      : clock_(clock), max_cursors_(max_cursors), lifetime_(lifetime) {}

  // The cursor that stands at `position`, which leaves the cache; null where
  // there is none.
  std::unique_ptr<EntryCursor> Take(const EntryPosition& position);

  // Keeps `cursor` for whoever asks for its position; the longest unused one
  // makes room for it.
  void Put(std::unique_ptr<EntryCursor> cursor);

  // Closes what nobody came back for in time.
  void DropExpired();

 private:
  struct Kept {
    std::unique_ptr<EntryCursor> cursor;
    absl::Duration expires;
  };

  // Moves what has expired out of the cache, to be closed without the mutex.
  std::list<Kept> TakeExpired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  const size_t max_cursors_;
  const absl::Duration lifetime_;
  Mutex mutex_;
  // Oldest first.
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::snapshots

#endif  // CLIENTS_SNAPSHOTS_CURSOR_CACHE_H_
