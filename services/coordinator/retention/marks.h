// What the snapshots of a storage, and the catalog, still need of it.

#ifndef SERVICES_COORDINATOR_RETENTION_MARKS_H_
#define SERVICES_COORDINATOR_RETENTION_MARKS_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/retention/digest_set.h"

namespace bimbackup::retention {

// Only ever grows. Memory: a hundred bytes for each different manifest, and
// what DigestSet takes for the blobs. Not thread-safe.
class Marks {
 public:
  // `storage` and `tree` outlive it. Snapshots in `without` are taken for
  // gone.
  Marks(storage::Storage& storage, catalog::TreeStore& tree,
        std::string scratch_folder, std::set<std::string> without);

  // Adds the manifests that snapshots name which it has not seen yet.
  // FAILED_PRECONDITION where there is no snapshot, or one cannot be read:
  // then nobody knows what it needs.
  absl::Status AddSnapshots();

  // Adds the manifests that the catalog names: of the projects as they were
  // last written, and of what the latest view shows or is to show.
  absl::Status AddCatalog();

  bool IsNamed(absl::string_view manifest_sha256) const;

  // Adds the blobs of manifests that it has not read yet, one project's after
  // the other's. FAILED_PRECONDITION, naming it, for one that cannot be read.
  // CANCELLED as soon as `cancelled` says so.
  absl::Status AddBlobs(const std::function<bool()>& cancelled);

  // The blobs whose digests begin with this byte, sorted.
  absl::StatusOr<std::vector<BinaryDigest>> ReadBlobs(int first_byte) {
    return blobs_.ReadBucket(first_byte);
  }

 private:
  struct Manifest {
    // Index of its project.
    int project = 0;
    // Index of the first snapshot seen to name it; -1 where only the catalog
    // does.
    int snapshot = -1;
    bool read = false;
  };

  int ProjectIndex(const std::string& project_id);
  void Add(const std::string& project_id, absl::string_view manifest_sha256,
           int snapshot);
  absl::Status AddBlobsOf(const std::string& digest,
                          const std::function<bool()>& cancelled);
  absl::Status Explain(const absl::Status& status, const std::string& digest,
                       const Manifest& manifest) const;

  storage::Storage& storage_;
  catalog::TreeStore& tree_;
  const std::set<std::string> without_;
  DigestSet blobs_;
  std::vector<std::string> snapshots_;
  std::set<std::string> seen_;
  std::map<std::string, int> projects_;
  std::map<BinaryDigest, Manifest> manifests_;
};

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_MARKS_H_
