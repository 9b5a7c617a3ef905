// What a restore says of its files, and what it comes to.

#ifndef CLIENTS_RESTORE_RESTORE_REPORT_H_
#define CLIENTS_RESTORE_RESTORE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "clients/storage/format/manifest.h"

namespace bimbackup::restore {

enum class OutcomeKind {
  // Written; in a dry run, to be written.
  kRestored,
  // It was there already, with these bytes.
  kUnchanged,
  // Another file is there and was not to be replaced.
  kKept,
  // Autodesk has no bytes of it.
  kNoContent,
  // What is stored of it is damaged or missing: nothing was put in place.
  kDamaged,
  // It could not be written, or was never backed up.
  kFailed,
  // It has another name here than in Autodesk. Said besides the above, and of
  // folders as well.
  kRenamed,
};

// "restored", "unchanged", "kept", "no_content", "damaged", "failed",
// "renamed".
absl::string_view OutcomeName(OutcomeKind kind);

// What became of one entry.
struct Outcome {
  OutcomeKind kind = OutcomeKind::kRestored;
  // The snapshot that it stands in.
  std::string snapshot_id;
  storage::format::ManifestEntry entry;
  // Within the destination.
  std::string local_path;
  // What went wrong, or is special; empty where nothing is.
  std::string message;
};

// Totals.
struct RestoreSummary {
  // The snapshot, or the newest of several.
  std::string snapshot_id;
  int64_t folders = 0;
  int64_t restored = 0;
  // Of the restored files.
  int64_t bytes = 0;
  int64_t unchanged = 0;
  int64_t kept = 0;
  int64_t no_content = 0;
  int64_t damaged = 0;
  int64_t failed = 0;
  int64_t renamed = 0;
  // Manifests and snapshots that could not be read.
  std::vector<std::string> damage;

  // Everything that was asked for is there.
  bool whole() const { return damaged == 0 && failed == 0 && damage.empty(); }
};

// Told of what happens, on any thread, one call at a time.
class RestoreObserver {
 public:
  virtual ~RestoreObserver() = default;

  // Files and bytes in all; 0 where they are not known.
  virtual void OnTotals(int64_t files, int64_t bytes) = 0;
  // Bytes were written, or found to be there.
  virtual void OnBytes(int64_t bytes) = 0;
  virtual void OnOutcome(const Outcome& outcome) = 0;
};

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RESTORE_REPORT_H_
