// Globs over paths that are given as components.

#ifndef SERVICES_COMMON_GLOB_H_
#define SERVICES_COMMON_GLOB_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup {

// A pattern such as "Tower/**/*.pdf". Its components are separated by '/'.
// Within one, `*` matches any characters, `?` one character, `[a-z]` one of a
// set and `[!a-z]` one not of it, `\` takes the next character literally; the
// component `**` matches any number of components, none included. Case
// counts. A value; const methods are thread-safe.
class Glob {
 public:
  // INVALID_ARGUMENT, saying why, for a pattern of more than 1,024 bytes, an
  // empty pattern or component, an open or empty set, a range that runs
  // backwards, `**` beside other characters, or a trailing `\`.
  static absl::StatusOr<Glob> Parse(absl::string_view pattern);

  bool Matches(const std::vector<std::string>& path) const;

  // Whether some path that lies below `path` could match.
  bool MatchesBelow(const std::vector<std::string>& path) const;

  // Whether every path that lies below `path` matches; may miss it.
  bool MatchesAllBelow(const std::vector<std::string>& path) const;

 private:
  Glob() = default;

  // Which positions of components_ can be next after `path`; the last stands
  // for the pattern's end.
  std::vector<bool> Advance(const std::vector<std::string>& path) const;

  std::vector<std::string> components_;
};

}  // namespace bimbackup

#endif  // SERVICES_COMMON_GLOB_H_
