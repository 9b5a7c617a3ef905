// Which snapshots no rule forgets: a small object beside them says so.

#ifndef CLIENTS_STORAGE_FORMAT_PROTECTION_H_
#define CLIENTS_STORAGE_FORMAT_PROTECTION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::format {

// "protected/<snapshot id>.json".
std::string ProtectionKey(absl::string_view snapshot_id);

absl::StatusOr<bool> IsProtected(Storage& storage,
                                 absl::string_view snapshot_id);

// Durable and idempotent, for a snapshot that exists or not.
absl::Status SetProtected(Storage& storage, absl::string_view snapshot_id,
                          bool is_protected);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_PROTECTION_H_
