#include "clients/bim360/json.h"

#include <cstdint>
#include <iterator>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/common/excerpt.h"

namespace bimbackup::bim360 {
namespace {

constexpr size_t kMaxDepth = 64;

// The code unit of the "\uXXXX" at `at`; -1 where none stands.
int EscapeAt(absl::string_view json, size_t at) {
  int value = 0;
  if (at + 6 > json.size() || json[at] != '\\' || json[at + 1] != 'u') {
    return -1;
  }
  for (const char c : json.substr(at + 2, 4)) {
    if (!absl::ascii_isxdigit(c)) return -1;
    const int digit = absl::ascii_isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + digit;
  }
  return value;
}

bool IsHigh(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLow(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

// `json` with every escaped surrogate that has no partner made U+FFFD.
std::string ReplaceLoneSurrogates(absl::string_view json) {
  std::string text(json.data(), json.size());
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const int unit = EscapeAt(text, i);
    if (IsHigh(unit) && IsLow(EscapeAt(text, i + 6))) {
      i += 11;
    } else if (IsHigh(unit) || IsLow(unit)) {
      text.replace(i, 6, "\\ufffd");
      i += 5;
    } else {
      ++i;
    }
  }
  return text;
}

}  // namespace

absl::Status JsonDocument::Parse(absl::string_view json) {
  simdjson::error_code error = parser_.allocate(json.size(), kMaxDepth);
  if (error == simdjson::SUCCESS) {
    error = parser_.parse(json.data(), json.size()).get(root_);
  }
  if (error == simdjson::STRING_ERROR) {
    const std::string text = ReplaceLoneSurrogates(json);
    error = parser_.parse(text).get(root_);
  }
  if (error == simdjson::SUCCESS) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("malformed JSON: ", simdjson::error_message(error)));
}

std::optional<JsonValue> Find(JsonValue value, JsonPath path) {
  for (const char* key : path) {
    simdjson::dom::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS ||
        object.at_key(key).get(value) != simdjson::SUCCESS) {
      return std::nullopt;
    }
  }
  if (value.is_null()) return std::nullopt;
  return value;
}

std::string FindString(JsonValue value, JsonPath path) {
  const auto found = Find(value, path);
  std::string_view text;
  if (!found || found->get_string().get(text) != simdjson::SUCCESS) return "";
  return std::string(text);
}

bool FindBool(JsonValue value, JsonPath path) {
  const auto found = Find(value, path);
  bool flag = false;
  return found && found->get_bool().get(flag) == simdjson::SUCCESS && flag;
}

std::optional<simdjson::dom::array> FindArray(JsonValue value, JsonPath path) {
  const auto found = Find(value, path);
  simdjson::dom::array array;
  if (!found || found->get_array().get(array) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return array;
}

absl::Status FindSize(JsonValue value, JsonPath path,
                      std::optional<int64_t>& size) {
  const auto found = Find(value, path);
  if (!found) return absl::OkStatus();
  int64_t number = 0;
  if (found->get_int64().get(number) != simdjson::SUCCESS || number < 0) {
    return absl::DataLossError(absl::StrCat(
        *std::prev(path.end()),
        " is not a size: ", Excerpt(simdjson::to_string(*found), 40)));
  }
  size = number;
  return absl::OkStatus();
}

}  // namespace bimbackup::bim360
