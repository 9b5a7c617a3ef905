// Finds out which names a file system can hold, by trying.

#ifndef CLIENTS_RESTORE_NAME_PROBE_H_
#define CLIENTS_RESTORE_NAME_PROBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "clients/restore/local_names.h"

namespace bimbackup::restore {

// Makes and removes a few empty files in the folder. Fails where nothing can
// be written there; `path` is for the message.
absl::StatusOr<NameRules> ProbeNameRules(int folder, const std::string& path);

}  // namespace bimbackup::restore

#endif  // CLIENTS_RESTORE_NAME_PROBE_H_
