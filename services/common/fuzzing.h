// What fuzzers share. For their sources alone.

#ifndef SERVICES_COMMON_FUZZING_H_
#define SERVICES_COMMON_FUZZING_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "services/common/excerpt.h"

namespace bimbackup {

[[noreturn]] inline void FuzzFail(const char* file, int line,
                                  const char* what) {
  std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
  std::abort();
}

inline absl::string_view FuzzText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Whether `text` may stand within one line of a message or a log.
inline bool IsOneLine(absl::string_view text) {
  return Excerpt(text, text.size()) == text;
}

inline bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t size = Utf8Size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace bimbackup

// Ends the fuzzer, with this input, unless `condition` is true.
#define FUZZ_REQUIRE(condition)                              \
  do {                                                       \
    if (!(condition)) {                                      \
      ::bimbackup::FuzzFail(__FILE__, __LINE__, #condition); \
    }                                                        \
  } while (false)

#endif  // SERVICES_COMMON_FUZZING_H_
