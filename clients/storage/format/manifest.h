// A project's manifest: one JSON object a line, zstd-compressed, in the order
// of stored_path's components, named by the SHA-256 of the uncompressed text.

#ifndef CLIENTS_STORAGE_FORMAT_MANIFEST_H_
#define CLIENTS_STORAGE_FORMAT_MANIFEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::format {

enum class EntryKind { kFile, kFolder };

// stored; carried (its folder could not be listed, as it was before); failed
// (could not be fetched; with the former version's blob where there is one);
// guarded (vanished in suspicious number); no_content (nothing to fetch).
enum class EntryStatus { kStored, kCarried, kFailed, kGuarded, kNoContent };

// "stored", "carried", "failed", "guarded", "no_content".
absl::string_view EntryStatusName(EntryStatus status);

// One line.
struct ManifestEntry {
  EntryKind kind = EntryKind::kFile;
  std::string project_id;
  std::string project_name;
  // Original names from the project's root down, the entry's own last;
  // empty for the project's root folder itself.
  std::vector<std::string> path;
  // Under latest/, project folder included, '/' between components.
  std::string stored_path;
  // The folder's id for a folder.
  std::string item_id;
  std::string version_id;
  int version_number = 0;
  std::optional<int64_t> size;
  // Empty where nothing is stored.
  std::string sha256;
  absl::Time last_modified = absl::InfinitePast();
  std::string storage_urn;
  EntryStatus status = EntryStatus::kStored;
  // Why it is not simply stored; empty where it is.
  std::string reason;
};

// Totals of a manifest, as a snapshot file keeps them.
struct ManifestCounts {
  int64_t files = 0;
  int64_t folders = 0;
  // Of the files whose bytes are stored.
  int64_t bytes = 0;
  // Entries whose status is not `stored`, by status.
  int64_t carried = 0;
  int64_t failed = 0;
  int64_t guarded = 0;
  int64_t no_content = 0;

  void Add(const ManifestEntry& entry);
  bool operator==(const ManifestCounts&) const = default;
};

// Writes one manifest. Bounded memory. Not thread-safe.
class ManifestWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ManifestWriter>> Create(
      Storage& storage);
  virtual ~ManifestWriter() = default;

  virtual absl::Status Append(const ManifestEntry& entry) = 0;

  // Makes it durable; returns its digest. Writes nothing where a manifest of
  // that digest is stored already and is whole; replaces a damaged one.
  virtual absl::StatusOr<std::string> Commit() = 0;

  virtual const ManifestCounts& counts() const = 0;
};

// Reads one manifest, entry by entry, in bounded memory. Not thread-safe.
class ManifestReader {
 public:
  // NOT_FOUND where no such manifest is stored.
  static absl::StatusOr<std::unique_ptr<ManifestReader>> Open(
      Storage& storage, absl::string_view digest);
  virtual ~ManifestReader() = default;

  // The next entry; nothing after the last. DATA_LOSS for a line that does
  // not parse or, at the end, a text whose digest is not its name.
  virtual absl::StatusOr<std::optional<ManifestEntry>> Next() = 0;
};

// The line of an entry, without its newline; keys in fixed order.
std::string FormatManifestLine(const ManifestEntry& entry);
absl::StatusOr<ManifestEntry> ParseManifestLine(absl::string_view line);

// "manifests/sha256/abc/<digest>.jsonl.zst".
std::string ManifestKey(absl::string_view digest);

// Orders stored paths by their components: a folder before what it holds.
bool StoredPathLess(absl::string_view a, absl::string_view b);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_MANIFEST_H_
