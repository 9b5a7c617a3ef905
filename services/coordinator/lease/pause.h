// Why nothing goes on for now, and what somebody has to mend.

#ifndef SERVICES_COORDINATOR_LEASE_PAUSE_H_
#define SERVICES_COORDINATOR_LEASE_PAUSE_H_

#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace bimbackup::lease {

enum class PauseReason {
  kNone,
  // The storage has no room, may not be written, is not there (not mounted, or
  // another one in its place), or fails otherwise.
  kStorageFull,
  kStorageDenied,
  kStorageMissing,
  kStorageFailed,
  // No worker can write to the storage, though the coordinator can.
  kWorkerStorage,
  // The state folder has no room for the catalog, or fails otherwise.
  kCatalogFull,
  kCatalogFailed,
};

// All but kNone.
inline constexpr std::array kPauseReasons = {
    PauseReason::kStorageFull,    PauseReason::kStorageDenied,
    PauseReason::kStorageMissing, PauseReason::kStorageFailed,
    PauseReason::kWorkerStorage,  PauseReason::kCatalogFull,
    PauseReason::kCatalogFailed};

// As metrics call it: "storage_full".
absl::string_view PauseReasonName(PauseReason reason);

// A backup that waits, for as long as it takes, for what stands in `message`.
struct Pause {
  PauseReason reason = PauseReason::kNone;
  std::string message;

  bool on() const { return reason != PauseReason::kNone; }
};

// The pause that an error of the storage or of the catalog stands for; none
// for OK.
Pause MakePause(const absl::Status& status);

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_PAUSE_H_
