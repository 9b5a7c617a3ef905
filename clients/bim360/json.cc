#include "clients/bim360/json.h"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/common/excerpt.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360 {
namespace {

constexpr size_t kMaxDepth = 64;

// A parser's memory is some 15 times as large as what it reads, so only a few
// of them are kept, and none that has read an unusually large answer.
constexpr size_t kMaxKeptParsers = 4;
constexpr size_t kMaxKeptCapacity = 1 << 20;

// Parsers that are not in use, with their memory, which each answer would else
// have anew and cold. Thread-safe.
class ParserPool {
 public:
  std::unique_ptr<simdjson::dom::parser> Take() {
    MutexLock lock(mutex_);
    if (kept_.empty()) return std::make_unique<simdjson::dom::parser>();
    std::unique_ptr<simdjson::dom::parser> parser = std::move(kept_.back());
    kept_.pop_back();
    return parser;
  }

  void Return(std::unique_ptr<simdjson::dom::parser> parser) {
    if (parser->capacity() > kMaxKeptCapacity) return;
    MutexLock lock(mutex_);
    if (kept_.size() < kMaxKeptParsers) kept_.push_back(std::move(parser));
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<simdjson::dom::parser>> kept_
      ABSL_GUARDED_BY(mutex_);
};

ParserPool& Parsers() {
  // Never destroyed: a thread may still parse while the process ends.
  static auto* const pool = new ParserPool();
  return *pool;
}

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

JsonDocument::JsonDocument() : parser_(Parsers().Take()) {}

JsonDocument::~JsonDocument() { Parsers().Return(std::move(parser_)); }

absl::Status JsonDocument::Parse(absl::string_view json) {
  simdjson::error_code error = simdjson::SUCCESS;
  // Whatever the parser allocates later is for the depth of the first time.
  if (parser_->max_depth() != kMaxDepth) {
    error = parser_->allocate(json.size(), kMaxDepth);
  }
  if (error == simdjson::SUCCESS) {
    error = parser_->parse(json.data(), json.size()).get(root_);
  }
  if (error == simdjson::STRING_ERROR) {
    const std::string text = ReplaceLoneSurrogates(json);
    error = parser_->parse(text).get(root_);
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

std::string_view FindText(JsonValue value, JsonPath path) {
  const auto found = Find(value, path);
  std::string_view text;
  if (!found || found->get_string().get(text) != simdjson::SUCCESS) return "";
  return text;
}

std::string FindString(JsonValue value, JsonPath path) {
  return std::string(FindText(value, path));
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
