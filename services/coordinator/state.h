// Opens the pair that belongs together: the storage and the catalog.

#ifndef SERVICES_COORDINATOR_STATE_H_
#define SERVICES_COORDINATOR_STATE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "clients/storage/storage.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/options.h"

namespace bimbackup::coordinator {

struct State {
  std::unique_ptr<storage::Storage> storage;
  std::unique_ptr<catalog::Catalog> catalog;
};

// Makes both where neither exists; else refuses, with one line that says what
// to do, what does not belong together: a storage without its marker or with
// another id than the catalog knows, one with snapshots of which the catalog
// knows nothing, one of a newer format, a catalog of a newer schema or in use
// by another coordinator. Nothing is written before all of it is checked.
// Where `options.rebuild_catalog` asks for it, a catalog that is lost is first
// made anew from the storage, which takes as long as it takes.
// `clock` and `random` outlive the state.
absl::StatusOr<State> OpenState(const Options& options, Clock& clock,
                                Random& random);

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_STATE_H_
