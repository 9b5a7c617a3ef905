// Turns what a verification tells into the messages of VerifySnapshot.

#ifndef CLIENTS_VERIFY_RESPONSE_OBSERVER_H_
#define CLIENTS_VERIFY_RESPONSE_OBSERVER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "bimbackup/v1/snapshot.pb.h"
#include "clients/verify/damage.h"
#include "clients/verify/snapshot_verifier.h"
#include "services/common/clock.h"

namespace bimbackup::verify {

// A message at once when damage was found, and now and then one with the
// progress alone. Not thread-safe.
class ResponseObserver : public VerifyObserver {
 public:
  struct Hooks {
    // Takes care of damage; returns whether the next backup mends it.
    std::function<absl::StatusOr<bool>(const Damage&)> keep;
    std::function<void(const v1::VerifySnapshotResponse&)> write;
    std::function<bool()> cancelled;
  };

  // `clock` outlives the observer.
  ResponseObserver(Clock& clock, Hooks hooks);

  absl::Status OnDamage(const Damage& damage) override;
  void OnProgress(const VerifyProgress& progress) override;
  bool IsCancelled() override { return hooks_.cancelled(); }

  // Writes the last message.
  void Finish(const VerifyProgress& progress);

 private:
  void Write();

  Clock& clock_;
  const Hooks hooks_;
  v1::VerifySnapshotResponse response_;
  absl::Duration next_ = -absl::InfiniteDuration();
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_RESPONSE_OBSERVER_H_
