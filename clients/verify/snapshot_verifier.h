// Proves that what a snapshot names is there and is what it was.

#ifndef CLIENTS_VERIFY_SNAPSHOT_VERIFIER_H_
#define CLIENTS_VERIFY_SNAPSHOT_VERIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "clients/verify/damage.h"
#include "services/common/clock.h"
#include "services/common/random.h"

namespace bimbackup::verify {

// What a verification reads, and how fast.
struct VerifyOptions {
  // Of `parts` equal shares of the blobs, chosen by their digests, the one
  // that is read again, from 1.
  int64_t part = 1;
  int64_t parts = 1;
  // Of these, a random share is read: 0 < percent <= 100.
  double percent = 100;
  // Bytes a second at most; 0 for no limit.
  int64_t max_bandwidth = 0;
  // So many distinct blobs are held in memory at a time, in 155 MB. A larger
  // snapshot is gone through in several equal shares, for each of which its
  // manifests are read twice.
  int64_t max_blobs_in_memory = 3'600'000;
};

// Is told of a verification while it runs, on its thread.
class VerifyObserver {
 public:
  virtual ~VerifyObserver() = default;

  // Damage, as it is found. An error ends the verification with it.
  virtual absl::Status OnDamage(const Damage& damage) = 0;

  // Several times a second while there is something to do.
  virtual void OnProgress(const VerifyProgress& progress) = 0;

  // Asked several times a second; true ends the verification as CANCELLED.
  virtual bool IsCancelled() = 0;
};

// Snapshot file and manifests are checked in any case, as are presence and
// size of every blob, each once; the share of the blobs that was asked for is
// read. Memory is bounded by VerifyOptions, not by the snapshot. Writes
// nothing. Thread-safe: verifications share nothing.
class SnapshotVerifier {
 public:
  // All outlive the verifier.
  SnapshotVerifier(storage::Storage& storage, Clock& clock, Random& random)
      : storage_(storage), clock_(clock), random_(random) {}

  // Verifies the snapshot with this id; "-" is the newest. Damage is no
  // error. INVALID_ARGUMENT for options out of range, NOT_FOUND for no such
  // snapshot, also where it is forgotten meanwhile, CANCELLED;
  // FAILED_PRECONDITION or UNAVAILABLE where the storage itself fails or is
  // gone, which is no damage of what it held.
  absl::StatusOr<VerifyProgress> Verify(absl::string_view id,
                                        const VerifyOptions& options,
                                        VerifyObserver& observer);

 private:
  storage::Storage& storage_;
  Clock& clock_;
  Random& random_;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_SNAPSHOT_VERIFIER_H_
