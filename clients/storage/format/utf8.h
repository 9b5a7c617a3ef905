// Where UTF-8's characters begin and end, and which names are the same to
// people.

#ifndef CLIENTS_STORAGE_FORMAT_UTF8_H_
#define CLIENTS_STORAGE_FORMAT_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup::storage::format {

// Bytes of the character that non-empty `text` begins with; 0 where it begins
// with none.
size_t Utf8CharacterSize(absl::string_view text);

// The longest beginning of `text`, which is UTF-8, that has at most
// `max_bytes` and ends with a whole character.
absl::string_view CutUtf8(absl::string_view text, size_t max_bytes);

// What two names have in common that file systems take for one: NFC, with
// case folded. `text` is UTF-8.
std::string FoldName(absl::string_view text);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_UTF8_H_
