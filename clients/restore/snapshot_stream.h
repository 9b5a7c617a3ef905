// The entries of one snapshot that were asked for.

#ifndef CLIENTS_RESTORE_SNAPSHOT_STREAM_H_
#define CLIENTS_RESTORE_SNAPSHOT_STREAM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/restore/path_selector.h"
#include "clients/restore/restore_source.h"
#include "clients/snapshots/entry_cursor.h"
#include "clients/storage/storage.h"

namespace bimbackup::restore {

// Goes on behind a damaged manifest. Not thread-safe.
class SnapshotStream : public EntryStream {
 public:
  // The storage outlives the stream.
  static absl::StatusOr<std::unique_ptr<SnapshotStream>> Open(
      storage::Storage& storage, const Selection& selection);

  absl::StatusOr<EntryBatch> Next() override;
  const std::vector<std::string>& damage() const override { return damage_; }

 private:
  SnapshotStream(std::unique_ptr<snapshots::EntryCursor> cursor,
                 PathSelector selector)
      : cursor_(std::move(cursor)), selector_(std::move(selector)) {}

  // Looks at one entry, or goes to the next project.
  absl::Status Step(EntryBatch& batch);
  void SetTotals(EntryBatch& batch) const;

  const std::unique_ptr<snapshots::EntryCursor> cursor_;
  PathSelector selector_;
  std::vector<std::string> damage_;
  bool found_ = false;
  // Of the batch that is made, as messages.
  size_t bytes_ = 0;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_SNAPSHOT_STREAM_H_
