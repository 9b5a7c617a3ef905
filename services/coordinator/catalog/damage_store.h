// What the catalog knows of damage in the storage, until it is mended.

#ifndef SERVICES_COORDINATOR_CATALOG_DAMAGE_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_DAMAGE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::catalog {

// A blob that is missing or was set aside, with one file that has it.
struct DamagedBlob {
  std::string sha256;
  // Where its bytes came from; empty where that is unknown.
  std::string storage_urn;
  std::optional<int64_t> size;
  std::string project_id;
  std::string project_name;
  std::string item_id;
  // Original names from the project's root down.
  std::vector<std::string> path;
};

// So many backups try to mend a blob that only old snapshots name.
inline constexpr int kMaxMendingBackups = 5;

// Thread-safe. Errors as BackupStore's.
class DamageStore {
 public:
  virtual ~DamageStore() = default;

  // Remembers that the blob's bytes are not there. The next backup asks for
  // them again (CrawlStore::BeginCrawl); until it begins, everything that has
  // them still counts as stored. Returns whether it will: not where nobody
  // knows where they came from, or it was tried in vain. Idempotent.
  virtual absl::StatusOr<bool> RecordDamagedBlob(const DamagedBlob& blob) = 0;

  // Where this is the newest manifest of a project, the next backup writes it
  // again; returns whether it is one. Idempotent.
  virtual absl::StatusOr<bool> RecordDamagedManifest(
      absl::string_view sha256) = 0;

  // Up to `limit` digests of blobs that are whole again, but that the latest
  // view may still show as they were.
  virtual absl::StatusOr<std::vector<std::string>> ListMended(int limit) = 0;

  // The latest view shows these as they are. Idempotent.
  virtual absl::Status ForgetMended(
      const std::vector<std::string>& sha256s) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_DAMAGE_STORE_H_
