// Every kept version of one item.

#ifndef CLIENTS_RESTORE_ITEM_STREAM_H_
#define CLIENTS_RESTORE_ITEM_STREAM_H_

#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/restore/restore_source.h"
#include "clients/snapshots/entry_cursor.h"
#include "clients/storage/storage.h"

namespace bimbackup::restore {

// Reads each manifest once, however many snapshots share it, and goes on
// behind what is damaged. Not thread-safe.
class ItemStream : public EntryStream {
 public:
  // The storage outlives the stream.
  static absl::StatusOr<std::unique_ptr<ItemStream>> Open(
      storage::Storage& storage, const Selection& selection);

  absl::StatusOr<EntryBatch> Next() override;
  const std::vector<std::string>& damage() const override { return damage_; }

 private:
  ItemStream(storage::Storage& storage, std::string item_id,
             std::deque<std::string> snapshot_ids)
      : storage_(storage),
        item_id_(std::move(item_id)),
        snapshot_ids_(std::move(snapshot_ids)) {}

  // Opens the next snapshot.
  absl::Status NextSnapshot();
  // Looks at one entry, or goes to the next project or snapshot.
  absl::Status Step(EntryBatch& batch);
  // Whether the project at the cursor cannot hold a version not seen yet.
  bool MaySkip();
  void Add(storage::format::ManifestEntry entry, EntryBatch& batch);

  storage::Storage& storage_;
  const std::string item_id_;
  // Still to be looked at, oldest first.
  std::deque<std::string> snapshot_ids_;
  // Null between snapshots.
  std::unique_ptr<snapshots::EntryCursor> cursor_;
  // Once the item was found: items do not move between projects.
  std::string project_id_;
  std::unordered_set<std::string> manifests_;
  std::unordered_set<std::string> versions_;
  std::vector<std::string> damage_;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_ITEM_STREAM_H_
