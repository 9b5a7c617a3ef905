// Removes from a storage what nobody needs any more.

#ifndef SERVICES_COORDINATOR_RETENTION_SWEEPER_H_
#define SERVICES_COORDINATOR_RETENTION_SWEEPER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "services/coordinator/catalog/sweep_gate.h"
#include "services/coordinator/catalog/sweep_store.h"
#include "services/coordinator/catalog/tree_store.h"
#include "services/coordinator/retention/marks.h"

namespace bimbackup::retention {

struct SweepCounts {
  int64_t manifests_removed = 0;
  int64_t blobs_removed = 0;
  int64_t bytes_removed = 0;
  // No manifest names them, but a running backup or the catalog may need
  // them.
  int64_t blobs_kept = 0;

  bool operator==(const SweepCounts&) const = default;
};

// When the running backup was started; nothing where none runs.
using RunningSince = std::function<absl::StatusOr<std::optional<absl::Time>>()>;

// One sweep. First the manifests that neither a snapshot nor the catalog
// names, then the blobs that no remaining manifest names, that no file of the
// catalog needs, and that are older than the running backup. May end
// anywhere: what is left is swept the next time. A backup may run meanwhile;
// see SweepGates. Not thread-safe.
class Sweeper {
 public:
  struct Options {
    // For what the marks spill.
    std::string scratch_folder;
    // Only count what would go.
    bool dry_run = false;
    // Snapshots that are taken for gone.
    std::set<std::string> without;
  };

  // All outlive the sweeper.
  Sweeper(storage::Storage& storage, catalog::TreeStore& tree,
          catalog::SweepStore& store, catalog::SweepGates& gates,
          RunningSince running_since, const Options& options);

  // `report` is told often how far it is; where it returns false the sweep
  // ends as CANCELLED. FAILED_PRECONDITION, and nothing (more) removed, where
  // a snapshot or manifest cannot be read, or the storage is not ours any
  // more.
  absl::Status Run(const std::function<bool(const SweepCounts&)>& report);

  const SweepCounts& counts() const { return counts_; }

 private:
  using Entry = storage::ObjectPage::Entry;

  bool Cancelled() { return !report_(counts_); }
  absl::Status SweepManifests();
  absl::Status SweepManifestBatch(const std::vector<std::string>& digests);
  // Takes up the snapshots that were written since the marks were read.
  absl::Status CatchUp();
  absl::Status SweepBlobs();
  // Sweeps the first few of `left` and takes them from it; or takes from it
  // what snapshots name that were written meanwhile.
  absl::Status SweepBlobBatch(std::vector<Entry>& left);
  // False where snapshots were written meanwhile, which may name the blobs.
  absl::StatusOr<bool> RemoveBlobs(const std::vector<Entry>& blobs);
  // Those of `blobs`, in order, that no manifest names.
  absl::StatusOr<std::vector<Entry>> DropMarked(std::vector<Entry> blobs);

  storage::Storage& storage_;
  catalog::SweepStore& store_;
  catalog::SweepGates& gates_;
  const RunningSince running_since_;
  const Options options_;
  std::function<bool(const SweepCounts&)> report_;
  Marks marks_;
  SweepCounts counts_;
  // SweepGates::snapshots_written when the marks were read.
  int64_t seen_snapshots_ = 0;
  // The bucket that was read last (-1: none), and what it holds.
  int bucket_ = -1;
  std::vector<BinaryDigest> marked_;
};

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_SWEEPER_H_
