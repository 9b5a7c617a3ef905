// What the catalog says of blobs that no manifest names.

#ifndef SERVICES_COORDINATOR_CATALOG_SWEEP_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_SWEEP_STORE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace bimbackup::catalog {

// Thread-safe. Errors as BackupStore's.
class SweepStore {
 public:
  virtual ~SweepStore() = default;

  // Those of these digests that a file needs: as its tip, or as its former
  // version while the tip is not stored. In their order.
  virtual absl::StatusOr<std::vector<std::string>> ListNeeded(
      const std::vector<std::string>& sha256s) = 0;

  // The same, and in one transaction with it forgets that the others are
  // stored: a version that has such bytes is fetched again when it is listed
  // again. Idempotent.
  virtual absl::StatusOr<std::vector<std::string>> ForgetUnneeded(
      const std::vector<std::string>& sha256s) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_SWEEP_STORE_H_
