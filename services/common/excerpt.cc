#include "services/common/excerpt.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace bimbackup {
namespace {

// Which second bytes may follow a lead byte: overlong forms, surrogates and
// what lies beyond U+10FFFF are left out.
struct SecondByte {
  unsigned char least;
  unsigned char greatest;
};

SecondByte SecondByteAfter(unsigned char lead) {
  switch (lead) {
    case 0xe0:
      return {0xa0, 0xbf};
    case 0xed:
      return {0x80, 0x9f};
    case 0xf0:
      return {0x90, 0xbf};
    case 0xf4:
      return {0x80, 0x8f};
    default:
      return {0x80, 0xbf};
  }
}

}  // namespace

size_t Utf8Size(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size) return 0;
  const SecondByte second = SecondByteAfter(lead);
  if (byte(1) < second.least || byte(1) > second.greatest) return 0;
  for (size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

std::string Excerpt(absl::string_view text, size_t max_bytes) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t size = Utf8Size(text.substr(at));
    if (at + std::max<size_t>(size, 1) > max_bytes) {
      return absl::StrCat(line, "... (", text.size(), " bytes)");
    }
    if (size == 0) {
      line += '?';
    } else if (size == 1 && absl::ascii_iscntrl(text[at])) {
      line += ' ';
    } else {
      line.append(text.data() + at, size);
    }
    at += std::max<size_t>(size, 1);
  }
  return line;
}

}  // namespace bimbackup
