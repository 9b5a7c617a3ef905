// Goes through what stands in one snapshot, entry by entry.

#ifndef CLIENTS_SNAPSHOTS_ENTRY_CURSOR_H_
#define CLIENTS_SNAPSHOTS_ENTRY_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::snapshots {

// A place in a snapshot.
struct EntryPosition {
  std::string snapshot_id;
  // Index of the project in the snapshot, and of the line in its manifest.
  int64_t project = 0;
  int64_t line = 0;

  bool operator==(const EntryPosition&) const = default;
};

// Projects in order of their ids, the entries of each in order of
// stored_path. Memory is bounded by the snapshot file and one manifest's
// buffers. Not thread-safe. The storage outlives it.
class EntryCursor {
 public:
  // From `start` on. NOT_FOUND for no such snapshot, DATA_LOSS for a torn one.
  static absl::StatusOr<std::unique_ptr<EntryCursor>> Open(
      storage::Storage& storage, const EntryPosition& start);

  // Of the entry that Peek() gives.
  const EntryPosition& position() const { return position_; }
  const storage::format::Snapshot& snapshot() const { return snapshot_; }
  // The project at position(); null behind the last one.
  const storage::format::SnapshotProject* project() const;

  // The entry here, null after the project's last one; valid until the next
  // call. DATA_LOSS, naming the manifest, for one that is damaged or missing:
  // NextProject() may go on behind it.
  absl::StatusOr<storage::format::ManifestEntry*> Peek();

  // Goes behind what Peek() gave.
  void Pass();

  // Goes to the first entry of the next project.
  void NextProject();

 private:
  EntryCursor(storage::Storage& storage, storage::format::Snapshot snapshot,
              EntryPosition start)
      : storage_(storage),
        snapshot_(std::move(snapshot)),
        position_(std::move(start)) {}

  absl::Status Read();
  absl::Status OpenManifest();

  storage::Storage& storage_;
  const storage::format::Snapshot snapshot_;
  EntryPosition position_;
  // Of the project at position_; null where it was not asked for yet.
  std::unique_ptr<storage::format::ManifestReader> reader_;
  // The line that reader_ gives next.
  int64_t next_line_ = 0;
  bool project_ended_ = false;
  std::optional<storage::format::ManifestEntry> entry_;
};

// About how large an entry is as a message. Lists that travel are bounded by
// this as well: long paths would make a page of many larger than gRPC bears.
size_t MessageBytes(const storage::format::ManifestEntry& entry);
inline constexpr size_t kMaxMessageBytes = size_t{1} << 20;

}  // namespace bimbackup::snapshots

#endif  // CLIENTS_SNAPSHOTS_ENTRY_CURSOR_H_
