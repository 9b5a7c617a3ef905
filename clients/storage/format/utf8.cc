#include "clients/storage/format/utf8.h"

#include <utf8proc.h>

#include <cstdlib>

namespace bimbackup::storage::format {

size_t Utf8CharacterSize(absl::string_view text) {
  utf8proc_int32_t character;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &character);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

absl::string_view CutUtf8(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (text[max_bytes] & 0xC0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string FoldName(absl::string_view text) {
  utf8proc_uint8_t* folded = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &folded,
                   static_cast<utf8proc_option_t>(
                       UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
  if (size < 0) return std::string(text);
  std::string result(reinterpret_cast<char*>(folded),
                     static_cast<size_t>(size));
  std::free(folded);
  return result;
}

}  // namespace bimbackup::storage::format
