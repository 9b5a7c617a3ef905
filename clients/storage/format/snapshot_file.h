// The file a finished backup leaves: which manifests make up the account.

#ifndef CLIENTS_STORAGE_FORMAT_SNAPSHOT_FILE_H_
#define CLIENTS_STORAGE_FORMAT_SNAPSHOT_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::format {

struct SnapshotProject {
  std::string project_id;
  std::string name;
  // Its folder under latest/.
  std::string stored_name;
  std::string manifest_sha256;
  ManifestCounts counts;
};

struct Snapshot {
  // Sorts by time: "20260131T235959Z-<8 hex>".
  std::string id;
  // The backup that left it, its id alone.
  std::string backup_id;
  std::string account_id;
  std::string storage_id;
  absl::Time start_time;
  absl::Time end_time;
  // "SUCCEEDED" or "PARTIAL".
  std::string state;
  // In order of project_id.
  std::vector<SnapshotProject> projects;
};

// "snapshots/<id>.json".
std::string SnapshotKey(absl::string_view id);

// The text of a snapshot file and back; DATA_LOSS for what is none.
std::string FormatSnapshot(const Snapshot& snapshot);
absl::StatusOr<Snapshot> ParseSnapshot(absl::string_view text);

absl::Status WriteSnapshot(Storage& storage, const Snapshot& snapshot);

// NOT_FOUND; DATA_LOSS where it does not parse.
absl::StatusOr<Snapshot> ReadSnapshot(Storage& storage, absl::string_view id);

// Ids of all snapshots, oldest first.
absl::StatusOr<std::vector<std::string>> ListSnapshotIds(Storage& storage);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_SNAPSHOT_FILE_H_
