// Tolerant reading of simdjson's documents. Internal to this folder.

#ifndef CLIENTS_BIM360_JSON_H_
#define CLIENTS_BIM360_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "simdjson.h"

namespace bimbackup::bim360 {

using JsonValue = simdjson::dom::element;

// A parsed document. Values point into it.
class JsonDocument {
 public:
  JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  ~JsonDocument();

  // DATA_LOSS for what is no JSON, or nested deeper than any answer of
  // Autodesk's. Lone surrogates, which old file names may hold, become
  // replacement characters.
  absl::Status Parse(absl::string_view json);

  JsonValue root() const { return root_; }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;
  JsonValue root_;
};

using JsonPath = std::initializer_list<const char*>;

// The value at `path` of object keys; nothing where a key is missing, null,
// or not an object on the way.
std::optional<JsonValue> Find(JsonValue value, JsonPath path);

// The string at `path`, within the document; empty where there is none.
std::string_view FindText(JsonValue value, JsonPath path);

// The same, as a copy.
std::string FindString(JsonValue value, JsonPath path);

// False where there is none.
bool FindBool(JsonValue value, JsonPath path);

// The elements of the array at `path`; nothing where there is none.
std::optional<simdjson::dom::array> FindArray(JsonValue value, JsonPath path);

// A count or size at `path`. OK and nothing where it is missing or null;
// DATA_LOSS where it is not an integer of 0 to 2^63-1.
absl::Status FindSize(JsonValue value, JsonPath path,
                      std::optional<int64_t>& size);

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_JSON_H_
