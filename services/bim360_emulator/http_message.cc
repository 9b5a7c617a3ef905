#include "services/bim360_emulator/http_message.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace bimbackup::bim360_emulator {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string Decode(absl::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(HexDigit(text[i + 1]) * 16 +
                                      HexDigit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

}  // namespace

absl::string_view HttpRequest::Header(absl::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

absl::string_view HttpRequest::Path() const {
  const absl::string_view all = target;
  return all.substr(0, all.find('?'));
}

absl::string_view HttpRequest::Query() const {
  const absl::string_view all = target;
  const size_t mark = all.find('?');
  return mark == absl::string_view::npos ? absl::string_view()
                                         : all.substr(mark + 1);
}

std::string HttpRequest::Parameter(absl::string_view name) const {
  return FormValue(Query(), name);
}

std::string UrlDecode(absl::string_view text) { return Decode(text, false); }

std::string UrlEncode(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
        c == '_' || c == '.' || c == '~') {
      out.push_back(c);
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      const unsigned char byte = c;
      out.push_back('%');
      out.push_back(kDigits[byte >> 4]);
      out.push_back(kDigits[byte & 15]);
    }
  }
  return out;
}

std::string FormValue(absl::string_view form, absl::string_view name) {
  for (const absl::string_view pair : absl::StrSplit(form, '&')) {
    const size_t equals = pair.find('=');
    if (Decode(pair.substr(0, equals), true) != name) continue;
    return equals == absl::string_view::npos
               ? ""
               : Decode(pair.substr(equals + 1), true);
  }
  return "";
}

std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time,
                          absl::UTCTimeZone());
}

}  // namespace bimbackup::bim360_emulator
