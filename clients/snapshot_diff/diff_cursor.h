// Goes through the differences of two snapshots, one by one.

#ifndef CLIENTS_SNAPSHOT_DIFF_DIFF_CURSOR_H_
#define CLIENTS_SNAPSHOT_DIFF_DIFF_CURSOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/snapshot_diff/change.h"
#include "clients/snapshot_diff/project_diff.h"
#include "clients/storage/format/snapshot_file.h"
#include "clients/storage/storage.h"

namespace bimbackup::snapshot_diff {

// A place among the differences.
struct DiffPosition {
  std::string from_id;
  std::string to_id;
  // The project; empty for the first one.
  std::string project_id;
  // Changes of it that are passed.
  int64_t change = 0;

  bool operator==(const DiffPosition&) const = default;
};

// By project id, then as ProjectDiff has them. Projects with one manifest in
// both are not read. Not thread-safe.
class DiffCursor {
 public:
  // NOT_FOUND or DATA_LOSS for a snapshot. `storage` outlives the cursor.
  // Changes before the position are read again.
  static absl::StatusOr<std::unique_ptr<DiffCursor>> Open(
      storage::Storage& storage, const std::string& scratch_folder,
      const DiffPosition& start, const Cancelled& cancelled);

  // Behind the change that Next() gave last.
  const DiffPosition& position() const { return position_; }

  // The next change; nothing after the last. DATA_LOSS or NOT_FOUND for a
  // manifest that is damaged or missing.
  absl::StatusOr<std::optional<Change>> Next(const Cancelled& cancelled);

 private:
  // Manifests of a project; one may be empty.
  struct Pair {
    std::string project_id;
    std::string before;
    std::string after;
  };

  DiffCursor(storage::Storage& storage, std::string scratch_folder,
             DiffPosition start)
      : storage_(storage),
        scratch_folder_(std::move(scratch_folder)),
        position_(std::move(start)) {}

  void AddPairs(const storage::format::Snapshot& before,
                const storage::format::Snapshot& after);
  void AddPair(const std::string& project_id, const std::string& before,
               const std::string& after);

  storage::Storage& storage_;
  const std::string scratch_folder_;
  DiffPosition position_;
  std::vector<Pair> pairs_;
  size_t next_pair_ = 0;
  // Of the pair before next_pair_; null where there is none.
  std::unique_ptr<ProjectDiff> project_;
};

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_DIFF_CURSOR_H_
