// Entries of a manifest that the other one does not have at the same place.

#ifndef CLIENTS_SNAPSHOT_DIFF_LOOSE_ENTRIES_H_
#define CLIENTS_SNAPSHOT_DIFF_LOOSE_ENTRIES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/storage/format/manifest.h"
#include "services/common/scratch_file.h"

namespace bimbackup::snapshot_diff {

// Finds them by their items. Keeps 16 bytes of each in memory, and the rest
// in a file. Not thread-safe.
class LooseEntries {
 public:
  // The file is made in `folder` when it is needed.
  explicit LooseEntries(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Add(const storage::format::ManifestEntry& entry);

  // To be called once, before the first Find().
  void Sort();

  // The entry of the item that `entry` is of; nothing where there is none.
  absl::StatusOr<std::optional<storage::format::ManifestEntry>> Find(
      const storage::format::ManifestEntry& entry) const;

 private:
  struct Place {
    uint64_t item_hash = 0;
    int64_t offset = 0;
  };

  absl::StatusOr<storage::format::ManifestEntry> Read(int64_t offset) const;

  const std::string folder_;
  std::unique_ptr<ScratchFile> file_;
  std::vector<Place> places_;
};

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_LOOSE_ENTRIES_H_
