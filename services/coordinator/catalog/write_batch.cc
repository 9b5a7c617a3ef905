#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {
namespace {

constexpr char kAddCounters[] = R"sql(
UPDATE backups SET
  folders_listed = folders_listed + ?2,
  folders_skipped = folders_skipped + ?3,
  transfers = transfers + ?4,
  transfer_bytes = transfer_bytes + ?5,
  transfers_stored = transfers_stored + ?6,
  bytes_stored = bytes_stored + ?7,
  transfers_failed = transfers_failed + ?8,
  unlisted = unlisted + ?9,
  guarded = guarded + ?10,
  manifests_written = manifests_written + ?11
WHERE number = ?1)sql";

// A change that comes while manifests are written (state 2) may be too late
// for this one: 2 survives the next SetManifest.
constexpr char kMarkChanged[] = R"sql(
UPDATE projects SET changed =
  CASE WHEN EXISTS(SELECT 1 FROM backups WHERE state = 2 AND state < 3)
  THEN 2 ELSE MAX(changed, 1) END
WHERE pk = ?)sql";

constexpr char kReadNextTransfer[] = "SELECT MAX(id) + 1 FROM transfers";

constexpr char kAddTotals[] = R"sql(
UPDATE projects SET folders = folders + ?2, files = files + ?3,
  bytes = bytes + ?4
WHERE pk = ?1)sql";

}  // namespace

void WriteBatch::AddTotals(int64_t project, int64_t folders, int64_t files,
                           int64_t bytes) {
  ProjectDelta& delta = projects_[project];
  delta.folders += folders;
  delta.files += files;
  delta.bytes += bytes;
}

int64_t WriteBatch::TakeTransferId() {
  if (next_transfer_ == 0) {
    next_transfer_ = ReadInt(database_, 1, kReadNextTransfer);
  }
  return next_transfer_++;
}

void WriteBatch::Flush() {
  for (const auto& [backup, c] : counters_) {
    Run(database_, kAddCounters, backup, c.folders_listed, c.folders_skipped,
        c.transfers, c.transfer_bytes, c.transfers_stored, c.bytes_stored,
        c.transfers_failed, c.unlisted, c.guarded, c.manifests_written);
  }
  for (const auto& [project, delta] : projects_) {
    if (delta.changed) Run(database_, kMarkChanged, project);
    if (delta.folders != 0 || delta.files != 0 || delta.bytes != 0) {
      Run(database_, kAddTotals, project, delta.folders, delta.files,
          delta.bytes);
    }
  }
  counters_.clear();
  projects_.clear();
}

}  // namespace bimbackup::catalog
