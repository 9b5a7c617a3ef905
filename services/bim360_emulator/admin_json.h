// What the admin API is given, in JSON.
//
// An edit: {"op": OP, "project": GUID or name, "path": ["Project Files", ...],
// ...} with OP and more members:
//   create_file    size, or content (text) or content_base64; sparse: true;
//                  kind: file|document|c4r; has_storage: false; has_size:
//                  false. Folders on the way are made.
//   change_file    as create_file: the next version
//   create_folder, delete (files and folders)
//   rename         name
//   move           to: the path of the new folder
//   create_project project (its name), kind: acc|bim360
//   archive_project, restore_project
//
// A fault rule: {"match": {"endpoint", "method", "path" (a regular
// expression), "id", "name", "nth", "count", "probability"}, "action":
// {"type", "status", "retry_after" ("5" or "date:5"), "body", "bytes",
// "delay_ms", "keys": [...], "location"}}; see faults.h for the types.

#ifndef SERVICES_BIM360_EMULATOR_ADMIN_JSON_H_
#define SERVICES_BIM360_EMULATOR_ADMIN_JSON_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/bim360_emulator/account.h"
#include "services/bim360_emulator/faults.h"

namespace bimbackup::bim360_emulator {

// Applies one edit, or each of a list in turn until one fails.
// INVALID_ARGUMENT for text that is no edit; else the edit's own status.
absl::Status ApplyEdits(absl::string_view json, Account& account);

struct FaultRule {
  FaultMatch match;
  FaultAction action;
};
absl::StatusOr<FaultRule> ParseFaultRule(absl::string_view json);

// The member `key` of a JSON object; INVALID_ARGUMENT when it is absent or of
// another type.
absl::StatusOr<int64_t> ReadJsonInt(absl::string_view json,
                                    absl::string_view key);
absl::StatusOr<bool> ReadJsonBool(absl::string_view json,
                                  absl::string_view key);
absl::StatusOr<std::string> ReadJsonString(absl::string_view json,
                                           absl::string_view key);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ADMIN_JSON_H_
