// Restores what a source has into a folder.

#ifndef CLIENTS_RESTORE_RESTORE_ENGINE_H_
#define CLIENTS_RESTORE_RESTORE_ENGINE_H_

#include <string>

#include "absl/status/statusor.h"
#include "clients/restore/file_restore.h"
#include "clients/restore/restore_report.h"
#include "clients/restore/restore_source.h"

namespace bimbackup::restore {

struct RestoreOptions {
  // The folder to restore into; its parent exists.
  std::string destination;
  Overwrite overwrite = Overwrite::kIfDifferent;
  // Says what would be done, and writes nothing.
  bool dry_run = false;
  // Files that are written at once.
  int max_files = 8;
};

// Writes what `selection` names below the destination:
// "<project>/<folder>/.../<file>" under original names, with their times; the
// versions of an item side by side, "<name> (version 3).dwg". Each file is
// verified while it is written under a temporary name, made durable, and put
// in place whole; what is damaged is named and left out, and the rest goes
// on. A repeated call goes on where one was cut off. Never follows a symbolic
// link below the destination.
//
// `summary` says how far it came, also after an error, which ends it early:
// RESOURCE_EXHAUSTED for a full disk; FAILED_PRECONDITION, PERMISSION_DENIED
// or NOT_FOUND for a destination that cannot be written; the source's errors,
// those of blobs after many files in a row only.
// Memory is bounded by the widest folder. Blocks.
absl::Status Restore(RestoreSource& source, const Selection& selection,
                     const RestoreOptions& options, RestoreObserver& observer,
                     RestoreSummary& summary);

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_RESTORE_ENGINE_H_
