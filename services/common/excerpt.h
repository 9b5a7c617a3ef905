// Foreign text within our own messages.

#ifndef SERVICES_COMMON_EXCERPT_H_
#define SERVICES_COMMON_EXCERPT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup {

// `text` as part of a line: control characters become spaces, each byte that
// is not UTF-8 a question mark, and of what is longer than `max_bytes` only
// the beginning is left, up to a whole character, followed by how long all of
// it is: "Plans for t... (10240 bytes)".
std::string Excerpt(absl::string_view text, size_t max_bytes = 200);

// Bytes of the UTF-8 character that non-empty `text` begins with; 0 where it
// begins with none.
size_t Utf8Size(absl::string_view text);

}  // namespace bimbackup

#endif  // SERVICES_COMMON_EXCERPT_H_
