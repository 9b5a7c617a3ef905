// What follows when damage was found in the storage.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_DAMAGE_KEEPER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_DAMAGE_KEEPER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/storage/storage.h"
#include "clients/verify/damage.h"
#include "services/coordinator/catalog/damage_store.h"
#include "services/coordinator/catalog/sweep_gate.h"

namespace bimbackup::snapshot {

// Thread-safe.
class DamageKeeper {
 public:
  // All outlive the keeper.
  DamageKeeper(catalog::DamageStore& store, storage::Storage& storage,
               catalog::SweepGates& gates)
      : store_(store), storage_(storage), gates_(gates) {}

  // Sets a damaged blob aside, so that good bytes can take its place, and
  // remembers it, or the damaged manifest, for the next backup. Returns
  // whether that mends it: not what only a person can. Idempotent. Errors are
  // the catalog's, and the storage's where it is gone.
  absl::StatusOr<bool> Keep(const verify::Damage& damage);

 private:
  absl::StatusOr<bool> KeepBlob(const verify::Damage& damage);

  catalog::DamageStore& store_;
  storage::Storage& storage_;
  catalog::SweepGates& gates_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_DAMAGE_KEEPER_H_
