#include "services/bim360_emulator/admin_json.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "simdjson.h"

namespace bimbackup::bim360_emulator {
namespace {

using simdjson::dom::element;

std::string_view ToStd(absl::string_view text) {
  return {text.data(), text.size()};
}

template <typename T>
T Get(const element& object, absl::string_view key, T otherwise) {
  T value;
  if (object[ToStd(key)].get(value) == simdjson::SUCCESS) return value;
  return otherwise;
}

std::string GetString(const element& object, absl::string_view key) {
  return std::string(Get<std::string_view>(object, key, {}));
}

bool Has(const element& object, absl::string_view key) {
  return object[ToStd(key)].error() == simdjson::SUCCESS;
}

std::vector<std::string> GetStrings(const element& object,
                                    absl::string_view key) {
  std::vector<std::string> strings;
  simdjson::dom::array array;
  if (object[ToStd(key)].get(array) != simdjson::SUCCESS) return strings;
  for (const element entry : array) {
    std::string_view text;
    if (entry.get(text) == simdjson::SUCCESS) strings.emplace_back(text);
  }
  return strings;
}

absl::Status BadJson(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the request is no ", what));
}

absl::StatusOr<FileSpec> ReadFileSpec(const element& edit) {
  FileSpec spec;
  spec.size = Get<int64_t>(edit, "size", 0);
  if (Get<bool>(edit, "sparse", false)) spec.content = ContentKind::kSparse;
  if (!Get<bool>(edit, "has_storage", true)) spec.content = ContentKind::kNone;
  spec.size_known =
      Get<bool>(edit, "has_size", spec.content != ContentKind::kNone);
  const std::string kind = GetString(edit, "kind");
  if (kind == "document") spec.kind = ItemKind::kDocument;
  if (kind == "c4r") spec.kind = ItemKind::kC4rModel;
  if (Has(edit, "content")) {
    spec.content = ContentKind::kLiteral;
    spec.bytes = GetString(edit, "content");
  } else if (Has(edit, "content_base64")) {
    spec.content = ContentKind::kLiteral;
    if (!absl::Base64Unescape(GetString(edit, "content_base64"), &spec.bytes)) {
      return absl::InvalidArgumentError("content_base64 is not base64");
    }
  }
  if (spec.size < 0) return absl::InvalidArgumentError("size is below zero");
  return spec;
}

absl::Status ApplyFileEdit(const element& edit, absl::string_view op,
                           const NodePath& where, Account& account) {
  ABSL_ASSIGN_OR_RETURN(const FileSpec spec, ReadFileSpec(edit));
  return op == "create_file" ? account.CreateFile(where, spec)
                             : account.ChangeFile(where, spec);
}

absl::Status ApplyEdit(const element& edit, Account& account) {
  const std::string op = GetString(edit, "op");
  NodePath where;
  where.project = GetString(edit, "project");
  where.path = GetStrings(edit, "path");
  if (op == "create_file" || op == "change_file") {
    return ApplyFileEdit(edit, op, where, account);
  }
  if (op == "create_folder") return account.CreateFolder(where);
  if (op == "delete") return account.Delete(where);
  if (op == "rename") return account.Rename(where, GetString(edit, "name"));
  if (op == "move") {
    return account.Move(where, {where.project, GetStrings(edit, "to")});
  }
  if (op == "create_project") {
    return account.CreateProject(where.project,
                                 GetString(edit, "kind") == "bim360"
                                     ? ProjectKind::kBim360
                                     : ProjectKind::kAcc);
  }
  if (op == "archive_project" || op == "restore_project") {
    return account.SetProjectArchived(where.project, op == "archive_project");
  }
  return absl::InvalidArgumentError(absl::StrCat("no edit \"", op, "\""));
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view name) {
  for (int i = 0; i < static_cast<int>(Endpoint::kCount); ++i) {
    const Endpoint endpoint = static_cast<Endpoint>(i);
    if (EndpointName(endpoint) == name) return endpoint;
  }
  return absl::InvalidArgumentError(absl::StrCat("no endpoint \"", name, "\""));
}

absl::StatusOr<FaultMatch> ReadMatch(const element& object) {
  FaultMatch match;
  const std::string endpoint = GetString(object, "endpoint");
  if (!endpoint.empty()) {
    ABSL_ASSIGN_OR_RETURN(match.endpoint, ParseEndpoint(endpoint));
  }
  match.method = GetString(object, "method");
  match.path_regex = GetString(object, "path");
  match.id = GetString(object, "id");
  match.name = GetString(object, "name");
  match.nth = Get<int64_t>(object, "nth", match.nth);
  match.count = Get<int64_t>(object, "count", match.count);
  match.probability = Get<double>(object, "probability", match.probability);
  return match;
}

absl::StatusOr<FaultAction> ReadAction(const element& object) {
  FaultAction action;
  ABSL_ASSIGN_OR_RETURN(action.type, ParseFaultType(GetString(object, "type")));
  action.status =
      static_cast<int>(Get<int64_t>(object, "status", action.status));
  action.retry_after = GetString(object, "retry_after");
  action.body = GetString(object, "body");
  action.bytes = Get<int64_t>(object, "bytes", action.bytes);
  action.delay = absl::Milliseconds(Get<int64_t>(object, "delay_ms", 0));
  action.keys = GetStrings(object, "keys");
  action.location = GetString(object, "location");
  return action;
}

// A value of type `Parsed`, which may point into the parser, as a `T` that
// does not.
template <typename T, typename Parsed = T>
absl::StatusOr<T> ReadMember(absl::string_view json, absl::string_view key) {
  simdjson::dom::parser parser;
  Parsed value;
  if (parser.parse(json.data(), json.size())[ToStd(key)].get(value) !=
      simdjson::SUCCESS) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request has no proper \"", key, "\""));
  }
  return T(value);
}

}  // namespace

absl::Status ApplyEdits(absl::string_view json, Account& account) {
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return BadJson("JSON");
  }
  simdjson::dom::array edits;
  if (root.get(edits) != simdjson::SUCCESS) return ApplyEdit(root, account);
  for (const element edit : edits) {
    ABSL_RETURN_IF_ERROR(ApplyEdit(edit, account));
  }
  return absl::OkStatus();
}

absl::StatusOr<FaultRule> ParseFaultRule(absl::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return BadJson("JSON");
  }
  FaultRule rule;
  element match;
  if (root["match"].get(match) == simdjson::SUCCESS) {
    ABSL_ASSIGN_OR_RETURN(rule.match, ReadMatch(match));
  }
  element action;
  if (root["action"].get(action) != simdjson::SUCCESS) {
    return BadJson("fault rule: it has no action");
  }
  ABSL_ASSIGN_OR_RETURN(rule.action, ReadAction(action));
  return rule;
}

absl::StatusOr<int64_t> ReadJsonInt(absl::string_view json,
                                    absl::string_view key) {
  return ReadMember<int64_t>(json, key);
}

absl::StatusOr<bool> ReadJsonBool(absl::string_view json,
                                  absl::string_view key) {
  return ReadMember<bool>(json, key);
}

absl::StatusOr<std::string> ReadJsonString(absl::string_view json,
                                           absl::string_view key) {
  return ReadMember<std::string, std::string_view>(json, key);
}

}  // namespace bimbackup::bim360_emulator
