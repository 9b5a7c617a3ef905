// Stops the granting of leases while the storage is full or gone.

#ifndef SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_
#define SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "services/coordinator/lease/pause.h"

namespace bimbackup::lease {

// Closed by a failure; looks at the storage from time to time and opens when
// the marker is there, there is room, and it can be written. A storage that
// fails again soon is asked less and less often. Not thread-safe.
class StorageGate {
 public:
  explicit StorageGate(storage::Storage& storage) : storage_(storage) {}

  // The storage failed: nothing is granted for now.
  void Close(const absl::Status& problem, absl::Duration now);

  // Somebody else says that the storage failed: looks at it, once a second at
  // most, and closes where it is not well. Asks the storage.
  void Check(absl::Duration now);

  // Looks for the marker, once a second at most, and closes where it is not
  // there: what stands in the storage cannot be counted then.
  absl::Status CheckMarker(absl::Duration now);

  // Opens the gate when its time has come and the storage is well. Asks the
  // storage.
  void Probe(absl::Duration now);

  bool open() const { return problem_.ok(); }
  // What is wrong; OK while open.
  const absl::Status& problem() const { return problem_; }
  // When Probe() has something to do; infinite while open.
  absl::Duration next_probe() const {
    return open() ? absl::InfiniteDuration() : next_probe_;
  }

 private:
  storage::Storage& storage_;
  absl::Status problem_;
  absl::Duration wait_;
  absl::Duration next_probe_;
  // Last found well by Check().
  absl::Duration checked_ = -absl::InfiniteDuration();
  // Marker last found by CheckMarker().
  absl::Duration seen_ = -absl::InfiniteDuration();
  absl::Duration opened_ = -absl::InfiniteDuration();
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_
