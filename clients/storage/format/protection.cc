#include "clients/storage/format/protection.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "clients/storage/format/json_text.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::format {

std::string ProtectionKey(absl::string_view snapshot_id) {
  return absl::StrCat("protected/", snapshot_id, ".json");
}

absl::StatusOr<bool> IsProtected(Storage& storage,
                                 absl::string_view snapshot_id) {
  return storage.ObjectExists(ProtectionKey(snapshot_id));
}

absl::Status SetProtected(Storage& storage, absl::string_view snapshot_id,
                          bool is_protected) {
  const std::string key = ProtectionKey(snapshot_id);
  if (!is_protected) return storage.RemoveObject(key);
  // The same bytes each time: an object is never written over.
  std::string json = "{";
  AppendField(json, "format", 1);
  AppendField(json, "snapshot", snapshot_id);
  json += "}\n";
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> object,
                        storage.OpenObjectWriter());
  ABSL_RETURN_IF_ERROR(object->Append(json));
  return object->Commit(key);
}

}  // namespace bimbackup::storage::format
