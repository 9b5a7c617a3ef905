// Writes one project's manifest from what the catalog knows of it.

#ifndef SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_BUILDER_H_
#define SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_BUILDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/tree_store.h"

namespace bimbackup::snapshot {

struct BuiltManifest {
  std::string sha256;
  storage::format::ManifestCounts counts;
};

// Memory is bounded by the children of the folders along one path, not by
// the project. Not thread-safe.
class ManifestBuilder {
 public:
  // `tree` and `storage` outlive the builder.
  ManifestBuilder(catalog::TreeStore& tree, storage::Storage& storage,
                  const storage::format::NameOptions& names)
      : tree_(tree), storage_(storage), names_(names) {}

  // Makes the project's manifest durable, with its entries under the folder
  // `stored_name` of the latest view. Stores nothing where a manifest of just
  // these entries is there already.
  absl::StatusOr<BuiltManifest> Build(const catalog::ProjectRecord& project,
                                      absl::string_view stored_name);

 private:
  catalog::TreeStore& tree_;
  storage::Storage& storage_;
  const storage::format::NameOptions names_;
};

}  // namespace bimbackup::snapshot

#endif  // SERVICES_COORDINATOR_SNAPSHOT_MANIFEST_BUILDER_H_
