// Writes JSON text, faster than building a document first.

#ifndef SERVICES_BIM360_EMULATOR_JSON_WRITER_H_
#define SERVICES_BIM360_EMULATOR_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace bimbackup::bim360_emulator {

// Appends `text`, which must be UTF-8, as a JSON string with its quotes.
void AppendJsonString(absl::string_view text, std::string& out);

// Puts the commas; that objects and arrays nest is the caller's duty. Not
// thread-safe.
class JsonWriter {
 public:
  JsonWriter() = default;
  // Leaves out every member whose key is among `omitted`, at any depth.
  explicit JsonWriter(std::vector<std::string> omitted)
      : omitted_(std::move(omitted)) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }

  // What follows is the member's value.
  JsonWriter& Key(absl::string_view key) {
    if (!omitted_.empty()) StartOmitting(key);
    Separate();
    AppendJsonString(key, out_);
    out_.push_back(':');
    first_ = true;
    return *this;
  }
  JsonWriter& String(absl::string_view text) {
    Separate();
    AppendJsonString(text, out_);
    EndValue();
    return *this;
  }
  JsonWriter& Int(int64_t value) { return Raw(absl::AlphaNum(value).Piece()); }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Double(double value) {
    return Raw(absl::AlphaNum(value).Piece());
  }
  // `json` is one value's text.
  JsonWriter& Raw(absl::string_view json) {
    Separate();
    out_.append(json.data(), json.size());
    EndValue();
    return *this;
  }

  // A member in one call.
  JsonWriter& Field(absl::string_view key, absl::string_view text) {
    return Key(key).String(text);
  }
  JsonWriter& IntField(absl::string_view key, int64_t value) {
    return Key(key).Int(value);
  }
  JsonWriter& BoolField(absl::string_view key, bool value) {
    return Key(key).Bool(value);
  }

  // The text so far; ends the writer.
  std::string Take() { return std::move(out_); }

 private:
  void Separate() {
    if (!first_) out_.push_back(',');
    first_ = false;
  }
  JsonWriter& Open(char bracket) {
    Separate();
    out_.push_back(bracket);
    first_ = true;
    ++depth_;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    out_.push_back(bracket);
    first_ = false;
    --depth_;
    EndValue();
    return *this;
  }
  void StartOmitting(absl::string_view key);
  void EndValue() {
    if (omitting_ && depth_ == omitted_depth_) StopOmitting();
  }
  void StopOmitting();

  std::string out_;
  bool first_ = true;
  int depth_ = 0;
  std::vector<std::string> omitted_;
  // While a member is being left out: where it began, and at which depth.
  bool omitting_ = false;
  int omitted_depth_ = 0;
  size_t omitted_from_ = 0;
  bool omitted_first_ = false;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_JSON_WRITER_H_
