// The catalog's findings that somebody can accept: deletions that are meant,
// folders that stay forbidden.

#ifndef SERVICES_COORDINATOR_CATALOG_ACCEPT_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_ACCEPT_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace bimbackup::catalog {

// What an acceptance concerned.
struct Accepted {
  int64_t files = 0;
  int64_t folders = 0;
  int64_t projects = 0;
};

// Thread-safe. Both methods take names or ids of projects, every one where
// there is none, and are idempotent. INVALID_ARGUMENT, naming it, for a
// project that is not known; FAILED_PRECONDITION while a backup runs; else
// errors as BackupStore's.
class AcceptStore {
 public:
  virtual ~AcceptStore() = default;

  // What stands guarded in these projects is guarded no longer: from the next
  // snapshot on it is gone. What was stored of it stays stored.
  virtual absl::StatusOr<Accepted> AcceptDeletions(
      const std::vector<std::string>& projects) = 0;

  // Folders and projects whose last listing was forbidden are no longer named
  // as unlisted, and no longer hold up deletions. Their content stays
  // carried. They are asked again whenever their parent is listed, which for
  // a project is every night; the first answer ends the acceptance.
  virtual absl::StatusOr<Accepted> AcceptDenied(
      const std::vector<std::string>& projects) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_ACCEPT_STORE_H_
