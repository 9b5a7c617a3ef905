#include "services/coordinator/snapshot/damage_keeper.h"

#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::snapshot {

using catalog::SweepGate;
using verify::DamageKind;

absl::StatusOr<bool> DamageKeeper::Keep(const verify::Damage& damage) {
  switch (damage.kind) {
    case DamageKind::kSnapshot:
      return false;
    case DamageKind::kManifest:
      return store_.RecordDamagedManifest(damage.sha256);
    default:
      return KeepBlob(damage);
  }
}

absl::StatusOr<bool> DamageKeeper::KeepBlob(const verify::Damage& damage) {
  // Nobody may find the blob in place, and then have the catalog say that it
  // was stored just now, in between.
  const SweepGate::Pass pass(gates_.results, SweepGate::Party::kWork);
  if (damage.kind != DamageKind::kMissingBlob) {
    const absl::Status aside = storage_.SetAsideBlob(damage.sha256);
    if (absl::IsUnavailable(aside) || absl::IsFailedPrecondition(aside)) {
      return aside;
    }
    if (!aside.ok()) {
      // While it stands there, what is fetched would be dropped for it.
      spdlog::warn("blob {} stays in place: {}", damage.sha256, aside);
      return false;
    }
  }
  spdlog::warn("{} is damaged: {}", damage.key, damage.message);
  catalog::DamagedBlob blob;
  blob.sha256 = damage.sha256;
  blob.storage_urn = damage.storage_urn;
  blob.size = damage.size;
  blob.project_id = damage.project_id;
  blob.project_name = damage.project_name;
  blob.item_id = damage.item_id;
  blob.path = damage.path;
  return store_.RecordDamagedBlob(blob);
}

}  // namespace bimbackup::snapshot
