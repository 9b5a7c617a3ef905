// Clears a storage's tmp/ of what dead attempts left.

#ifndef CLIENTS_STORAGE_LOCAL_TEMPORARY_SWEEP_H_
#define CLIENTS_STORAGE_LOCAL_TEMPORARY_SWEEP_H_

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace bimbackup::storage::local {

// Removes the files that nobody holds and that have not changed for `age`,
// by the file server's own clock. A part goes with its journal.
absl::Status SweepTemporary(int temporary_folder, absl::Duration age);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_TEMPORARY_SWEEP_H_
