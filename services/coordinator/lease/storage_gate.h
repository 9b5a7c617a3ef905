// Stops the granting of leases while the storage is full or gone.

#ifndef SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_
#define SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"

namespace bimbackup::lease {

// Closed by a failure; looks at the storage from time to time and opens when
// the marker is there and there is room. A storage that fails again soon is
// asked less and less often. Not thread-safe.
class StorageGate {
 public:
  // Less room than this counts as full.
  static constexpr int64_t kMinFreeBytes = int64_t{64} << 20;

  explicit StorageGate(storage::Storage& storage) : storage_(storage) {}

  // The storage failed: nothing is granted for now.
  void Close(absl::string_view problem, absl::Duration now);

  // Somebody else says that the storage failed: looks at it, once a second at
  // most, and closes where it is not well. Reads from the storage.
  void Check(absl::Duration now);

  // Opens the gate when its time has come and the storage is well. Reads
  // from the storage.
  void Probe(absl::Duration now);

  bool open() const { return problem_.empty(); }
  // What is wrong; empty while open.
  const std::string& problem() const { return problem_; }
  // When Probe() has something to do; infinite while open.
  absl::Duration next_probe() const {
    return open() ? absl::InfiniteDuration() : next_probe_;
  }

 private:
  std::string FindProblem();

  storage::Storage& storage_;
  std::string problem_;
  absl::Duration wait_;
  absl::Duration next_probe_;
  // Last found well by Check().
  absl::Duration checked_ = -absl::InfiniteDuration();
  absl::Duration opened_ = -absl::InfiniteDuration();
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_STORAGE_GATE_H_
