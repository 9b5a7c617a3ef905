#include "services/bim360_emulator/json_writer.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr std::array<bool, 256> MakeEscapeTable() {
  std::array<bool, 256> table{};
  for (int c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = table['\\'] = true;
  return table;
}

constexpr std::array<bool, 256> kNeedsEscape = MakeEscapeTable();

}  // namespace

void AppendJsonString(absl::string_view text, std::string& out) {
  out.push_back('"');
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = text[i];
    if (!kNeedsEscape[c]) continue;
    out.append(text.data() + plain, i - plain);
    plain = i + 1;
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(static_cast<char>(c));
    } else {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    }
  }
  out.append(text.data() + plain, text.size() - plain);
  out.push_back('"');
}

void JsonWriter::StartOmitting(absl::string_view key) {
  if (omitting_ ||
      std::find(omitted_.begin(), omitted_.end(), key) == omitted_.end()) {
    return;
  }
  omitting_ = true;
  omitted_depth_ = depth_;
  omitted_from_ = out_.size();
  omitted_first_ = first_;
}

void JsonWriter::StopOmitting() {
  omitting_ = false;
  out_.resize(omitted_from_);
  first_ = omitted_first_;
}

}  // namespace bimbackup::bim360_emulator
