// Whether a storage can take bytes now.

#ifndef CLIENTS_STORAGE_STORAGE_PROBE_H_
#define CLIENTS_STORAGE_STORAGE_PROBE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage {

// With less room than this, or than a twentieth of a small storage, it would
// fill up again at once.
inline constexpr int64_t kEnoughRoom = int64_t{256} << 20;

// Looks for the marker and for room (`needed` bytes where that is more than
// enough for anything else), and writes a few bytes that do not stay: a
// storage that is mounted read-only, or whose rights were taken away, shows
// only there. Blocks on the storage. RESOURCE_EXHAUSTED when it is full,
// PERMISSION_DENIED when it may not be written, FAILED_PRECONDITION when it is
// not our storage, else UNAVAILABLE; the message is for people.
absl::Status ProbeStorage(Storage& storage, int64_t needed);

// Whether somebody has to mend the storage before anything can be written, as
// opposed to an error that may be one file's: it is full, may not be written,
// or is not there.
bool IsStorageClosed(const absl::Status& status);

}  // namespace bimbackup::storage

#endif  // CLIENTS_STORAGE_STORAGE_PROBE_H_
