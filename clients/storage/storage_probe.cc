#include "clients/storage/storage_probe.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage {
namespace {

// A page: what is smaller may find room where a file's first byte does not.
constexpr size_t kProbeBytes = 4096;

absl::Status CheckRoom(Storage& storage, int64_t needed) {
  ABSL_ASSIGN_OR_RETURN(const Capacity capacity, storage.GetCapacity());
  if (!capacity.free_bytes.has_value()) return absl::OkStatus();
  int64_t enough = kEnoughRoom;
  if (capacity.total_bytes.has_value()) {
    enough = std::min(enough, *capacity.total_bytes / 20);
  }
  enough = std::max(enough, needed);
  if (*capacity.free_bytes >= enough) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the storage is full: ", *capacity.free_bytes >> 20,
                   " MiB are free, ", (enough + (1 << 20) - 1) >> 20,
                   " MiB are needed; make room, the backup goes on"));
}

absl::Status TryWrite(Storage& storage) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectWriter> writer,
                        storage.OpenObjectWriter());
  return writer->Append(std::string(kProbeBytes, '\0'));
}

}  // namespace

absl::Status ProbeStorage(Storage& storage, int64_t needed) {
  ABSL_RETURN_IF_ERROR(storage.CheckMarker());
  ABSL_RETURN_IF_ERROR(CheckRoom(storage, needed));
  const absl::Status written = TryWrite(storage);
  if (written.ok()) return written;
  return absl::Status(
      written.code(),
      absl::StrCat("the storage cannot be written: ", written.message()));
}

bool IsStorageClosed(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ||
         absl::IsPermissionDenied(status) || absl::IsFailedPrecondition(status);
}

}  // namespace bimbackup::storage
