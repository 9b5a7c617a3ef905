// Where what is restored comes from: a storage, or a coordinator that has it.

#ifndef CLIENTS_RESTORE_RESTORE_SOURCE_H_
#define CLIENTS_RESTORE_RESTORE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"

namespace bimbackup::restore {

// What is to be restored.
struct Selection {
  // A snapshot's id, or "-" for the newest; with `item_id` also "*", for all
  // of them.
  std::string snapshot_id = "-";
  // "<project>/<folder>/..." or globs over it; a folder that one names stands
  // for all it holds. Everything where empty.
  std::vector<std::string> paths;
  // Every kept version of this item instead.
  std::string item_id;
};

// The next entries of a stream.
struct EntryBatch {
  // The snapshot that they stand in.
  std::string snapshot_id;
  // At most 1,000; may be empty before the last batch.
  std::vector<storage::format::ManifestEntry> entries;
  // Nothing follows.
  bool last = false;
  // Files and bytes in all, where they are known beforehand; else 0.
  int64_t files = 0;
  int64_t bytes = 0;
};

// Entries: of a snapshot project by project, each in the order of
// stored_path; of an item its versions, oldest first. Not thread-safe.
class EntryStream {
 public:
  virtual ~EntryStream() = default;

  // Takes a bounded time: a batch may be empty while the search goes on.
  // NOT_FOUND, at the end, where nothing was found and nothing is damaged.
  // Not to be called after an error or the last batch.
  virtual absl::StatusOr<EntryBatch> Next() = 0;

  // What could not be read, each by name, complete after the last batch. What
  // it held is missing among the entries.
  virtual const std::vector<std::string>& damage() const = 0;
};

// The bytes of a blob, in order. Not thread-safe.
class BlobStream {
 public:
  virtual ~BlobStream() = default;

  // The next bytes, at most 1 MiB, valid until the next call; none at the end.
  virtual absl::StatusOr<absl::string_view> Next() = 0;
};

// Thread-safe. Outlives its streams.
class RestoreSource {
 public:
  virtual ~RestoreSource() = default;

  // NOT_FOUND for no such snapshot, DATA_LOSS for a torn one,
  // INVALID_ARGUMENT for a malformed glob or a selection that says too much:
  // also from the stream's first Next().
  virtual absl::StatusOr<std::unique_ptr<EntryStream>> ListEntries(
      const Selection& selection) = 0;

  // A blob's bytes from `offset` on. INVALID_ARGUMENT for what is no SHA-256,
  // NOT_FOUND, OUT_OF_RANGE for an offset behind the end: also from the
  // stream's first Next().
  virtual absl::StatusOr<std::unique_ptr<BlobStream>> OpenBlob(
      absl::string_view sha256, int64_t offset) = 0;
};

// Most entries of a batch.
inline constexpr size_t kMaxBatchEntries = 1000;
// Most bytes that a blob stream gives at once.
inline constexpr size_t kMaxBlobBytes = size_t{1} << 20;

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RESTORE_SOURCE_H_
