// What the catalog's stores speak of. Values, no behaviour.

#ifndef SERVICES_COORDINATOR_CATALOG_TYPES_H_
#define SERVICES_COORDINATOR_CATALOG_TYPES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace bimbackup::catalog {

// Numbers backups upwards from 1; the public id is made from it and the time.
using BackupNumber = int64_t;

enum class BackupState {
  kCrawling,
  kTransferring,
  kCommitting,
  kSucceeded,
  kPartial,
  kFailed,
  kCancelled,
};

// True for the last four.
inline bool HasEnded(BackupState state) {
  return state >= BackupState::kSucceeded;
}

struct BackupRequest {
  std::string request_id;
  bool validate_only = false;
  bool full_recheck = false;
  std::vector<std::string> projects;
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool operator==(const BackupRequest&) const = default;

  bool HasFilter() const {
    return !projects.empty() || !include.empty() || !exclude.empty();
  }
};

// Counters of one backup; see BackupProgress in coordinator_service.proto.
struct BackupCounters {
  int64_t folders_listed = 0;
  int64_t folders_skipped = 0;
  int64_t transfers = 0;
  int64_t transfer_bytes = 0;
  int64_t transfers_stored = 0;
  int64_t bytes_stored = 0;
  int64_t transfers_failed = 0;
  int64_t unlisted = 0;
  // Of those, how many were forbidden, which AcceptDenied can accept.
  int64_t denied = 0;
  int64_t guarded = 0;
  int64_t manifests_written = 0;
  std::map<std::string, int64_t> api_calls;
};

struct BackupRecord {
  BackupNumber number = 0;
  // "20260131T235959Z-<8 hex>": sorts by time.
  std::string id;
  BackupState state = BackupState::kCrawling;
  std::string message;
  BackupRequest request;
  absl::Time create_time;
  std::optional<absl::Time> end_time;
  BackupCounters counters;
  // Empty until one is left.
  std::string snapshot_id;
};

// Sizes of what is known to exist, whatever the backup.
struct AccountTotals {
  int64_t projects = 0;
  int64_t folders = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t frontier = 0;
};

struct ProjectRecord {
  std::string project_id;
  std::string name;
  std::string kind;
  std::string root_folder_id;
  // The project's listing failed: why; empty when it did not.
  std::string unlisted_reason;
  // It left the account's listing (archived, deleted), and is guarded.
  bool vanished = false;
  // Something in it differs from its newest manifest.
  bool changed = true;
  // Empty before the first.
  std::string manifest_sha256;
};

struct FolderRecord {
  std::string project_id;
  std::string folder_id;
  // Empty for the project's topmost folders.
  std::string parent_id;
  std::string name;
  // Why it could not be listed; empty when it was.
  std::string unlisted_reason;
  bool guarded = false;
};

// A version whose bytes are stored.
struct StoredVersion {
  std::string version_id;
  int version_number = 0;
  std::optional<int64_t> size;
  std::string storage_urn;
  std::string sha256;
  absl::Time last_modified;
};

// An item as a listing gave it, with what is stored of it.
struct FileRecord {
  std::string project_id;
  std::string folder_id;
  std::string item_id;
  std::string name;
  // The tip.
  std::string version_id;
  int version_number = 0;
  std::optional<int64_t> size;
  // Empty for a version without content.
  std::string storage_urn;
  absl::Time last_modified;
  // Digest of the tip's bytes; empty while they are not stored.
  std::string sha256;
  // Why the tip has no content or could not be fetched; else empty.
  std::string reason;
  bool guarded = false;
  // The newest earlier version that is stored, where the tip is not.
  std::optional<StoredVersion> former;
};

// What the frontier holds: one listing to be made, or to be gone on with.
struct FrontierTask {
  enum class Kind { kProjects, kTopFolders, kFolder };
  // Grows with every push: the highest is the deepest and newest.
  int64_t task_id = 0;
  Kind kind = Kind::kFolder;
  std::string project_id;
  // With kTopFolders the project's root folder, or empty.
  std::string folder_id;
  // Where to go on; empty for the first page.
  std::string page_url;
  // Pages committed so far.
  int page_number = 0;
};

enum class TransferState { kPending, kLeased, kStored, kFailed };

struct TransferRecord {
  int64_t transfer_id = 0;
  std::string storage_urn;
  std::optional<int64_t> size;
  TransferState state = TransferState::kPending;
  // The first item that has these bytes.
  std::string project_id;
  std::string project_name;
  std::string item_id;
  // Original names from the project's root down.
  std::vector<std::string> path;
  std::string reason;
  int attempts = 0;
};

struct AttemptRecord {
  absl::Time end_time;
  std::string worker_id;
  // The number of a TransferOutcome in transfer.proto.
  int outcome = 0;
  int http_status = 0;
  int64_t bytes_received = 0;
  std::string message;
  // Reported when the lease had been lost, which is an attempt of its own.
  bool late = false;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_TYPES_H_
