// Fuzzes globs against a slow matcher that tries everything. An input is a
// pattern, then, each on a line, the components of a path.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/common/fuzzing.h"
#include "services/common/glob.h"

namespace bimbackup {
namespace {

// Of components without sets, whose characters are bytes.
bool SlowlyMatches(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return SlowlyMatches(pattern.substr(1), text) ||
           (!text.empty() && SlowlyMatches(pattern, text.substr(1)));
  }
  if (text.empty()) return false;
  const size_t escape = pattern[0] == '\\' ? 1 : 0;
  const bool same =
      (escape == 0 && pattern[0] == '?') || pattern[escape] == text[0];
  return same && SlowlyMatches(pattern.substr(escape + 1), text.substr(1));
}

bool SlowlyMatches(const std::vector<std::string>& pattern, size_t p,
                   const std::vector<std::string>& path, size_t at) {
  if (p == pattern.size()) return at == path.size();
  if (pattern[p] == "**") {
    return SlowlyMatches(pattern, p + 1, path, at) ||
           (at < path.size() && SlowlyMatches(pattern, p, path, at + 1));
  }
  return at < path.size() && SlowlyMatches(pattern[p], path[at]) &&
         SlowlyMatches(pattern, p + 1, path, at + 1);
}

// What the slow matcher understands, and gets through in time.
bool IsSimple(absl::string_view input) {
  if (input.size() > 40) return false;
  for (const char c : input) {
    if (c == '[' || static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

std::string Literal(const std::vector<std::string>& path) {
  std::string pattern;
  for (const std::string& component : path) {
    absl::StrAppend(&pattern, pattern.empty() ? "" : "/");
    for (const char c : component) {
      if (absl::StrContains("*?[\\", c)) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

void CheckFamily(const Glob& glob, std::vector<std::string> path) {
  const bool matches = glob.Matches(path);
  const bool all_below = glob.MatchesAllBelow(path);
  if (all_below) FUZZ_REQUIRE(glob.MatchesBelow(path));
  std::vector<std::string> child = path;
  child.push_back("any name");
  if (all_below) FUZZ_REQUIRE(glob.Matches(child));
  if (!path.empty()) {
    path.pop_back();
    if (matches) FUZZ_REQUIRE(glob.MatchesBelow(path));
  }
}

}  // namespace

void FuzzOne(absl::string_view input) {
  std::vector<std::string> path = absl::StrSplit(input, '\n');
  const std::string pattern = path.front();
  path.erase(path.begin());
  bool has_slash = false;
  for (const std::string& name : path) {
    has_slash |= name.empty() || absl::StrContains(name, '/');
  }
  if (!path.empty() && !has_slash) {
    const auto literal = Glob::Parse(Literal(path));
    if (literal.ok()) FUZZ_REQUIRE(literal->Matches(path));
  }
  const auto glob = Glob::Parse(pattern);
  if (!glob.ok()) {
    FUZZ_REQUIRE(absl::IsInvalidArgument(glob.status()));
    return;
  }
  CheckFamily(*glob, path);
  if (IsSimple(input)) {
    const std::vector<std::string> components = absl::StrSplit(pattern, '/');
    FUZZ_REQUIRE(glob->Matches(path) == SlowlyMatches(components, 0, path, 0));
  }
}

}  // namespace bimbackup

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
