#include "clients/storage/format/json_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/storage/format/utf8.h"

namespace bimbackup::storage::format {
namespace {

void AppendAscii(std::string& json, char c) {
  if (c == '"' || c == '\\') {
    json += '\\';
    json += c;
  } else if (static_cast<unsigned char>(c) < 0x20) {
    absl::StrAppendFormat(&json, "\\u%04x", c);
  } else {
    json += c;
  }
}

void AppendKey(std::string& json, absl::string_view key) {
  if (!json.empty() && json.back() != '{' && json.back() != '[') json += ',';
  absl::StrAppend(&json, "\"", key, "\":");
}

}  // namespace

void AppendJsonString(std::string& json, absl::string_view text) {
  json += '"';
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    if (size == 0) {
      json += "\xEF\xBF\xBD";
    } else if (size == 1) {
      AppendAscii(json, text[0]);
    } else {
      json.append(text.data(), size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  json += '"';
}

void AppendField(std::string& json, absl::string_view key,
                 absl::string_view value) {
  AppendKey(json, key);
  AppendJsonString(json, value);
}

void AppendField(std::string& json, absl::string_view key, int64_t value) {
  AppendKey(json, key);
  absl::StrAppend(&json, value);
}

std::string FormatUtc(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

absl::StatusOr<absl::Time> ParseUtc(absl::string_view text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no time: ", error));
  }
  return time;
}

}  // namespace bimbackup::storage::format
