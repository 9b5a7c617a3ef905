#include "services/common/glob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/common/excerpt.h"

namespace bimbackup {
namespace {

constexpr char kAnyDepth[] = "**";

// Every name of an account is compared with it.
constexpr size_t kMaxPatternBytes = 1024;

// Takes the first character off `text`; a byte that is not UTF-8 counts as
// one.
uint32_t TakeCharacter(absl::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  length = std::min(length, text.size());
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) length = 1;
  }
  uint32_t value = 0;
  for (size_t i = 0; i < length; ++i) {
    value = value << 8 | static_cast<unsigned char>(text[i]);
  }
  text.remove_prefix(length);
  return value;
}

// A character of a set, escaped or not. False at the text's end.
bool TakeMember(absl::string_view& text, uint32_t& member) {
  if (!text.empty() && text[0] == '\\') text.remove_prefix(1);
  if (text.empty()) return false;
  member = TakeCharacter(text);
  return true;
}

absl::Status OpenSet() { return absl::InvalidArgumentError("a '[' is open"); }

// Takes a set's rest, after its '['; says whether `character` is of it.
absl::Status TakeSet(absl::string_view& text, uint32_t character,
                     bool& matches) {
  const bool negated = !text.empty() && (text[0] == '!' || text[0] == '^');
  if (negated) text.remove_prefix(1);
  if (!text.empty() && text[0] == ']') {
    return absl::InvalidArgumentError("a set is empty");
  }
  bool found = false;
  while (!text.empty() && text[0] != ']') {
    uint32_t first = 0;
    if (!TakeMember(text, first)) return OpenSet();
    uint32_t last = first;
    if (text.size() > 1 && text[0] == '-' && text[1] != ']') {
      text.remove_prefix(1);
      if (!TakeMember(text, last)) return OpenSet();
    }
    if (last < first) {
      return absl::InvalidArgumentError("a range runs backwards");
    }
    found |= first <= character && character <= last;
  }
  if (text.empty()) return OpenSet();
  text.remove_prefix(1);
  matches = found != negated;
  return absl::OkStatus();
}

// Takes one element other than '*' off `pattern`; says whether `character`
// matches it.
bool TakeElement(absl::string_view& pattern, uint32_t character) {
  const char kind = pattern[0];
  if (kind == '?') {
    pattern.remove_prefix(1);
    return true;
  }
  if (kind == '[') {
    pattern.remove_prefix(1);
    bool matches = false;
    // Parse() has refused what is malformed.
    TakeSet(pattern, character, matches).IgnoreError();
    return matches;
  }
  uint32_t literal = 0;
  TakeMember(pattern, literal);
  return literal == character;
}

// Goes back to the latest '*' alone: an earlier one could not do better.
bool MatchesComponent(absl::string_view pattern, absl::string_view text) {
  bool starred = false;
  absl::string_view star_pattern;
  absl::string_view star_text;
  while (true) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      starred = true;
      star_pattern = pattern;
      star_text = text;
      continue;
    }
    if (text.empty() && pattern.empty()) return true;
    if (!text.empty() && !pattern.empty() &&
        TakeElement(pattern, TakeCharacter(text))) {
      continue;
    }
    if (!starred || star_text.empty()) return false;
    TakeCharacter(star_text);
    pattern = star_pattern;
    text = star_text;
  }
}

absl::Status CheckComponent(absl::string_view component) {
  if (component.empty()) {
    return absl::InvalidArgumentError("a component is empty");
  }
  if (component == kAnyDepth) return absl::OkStatus();
  if (component.find(kAnyDepth) != absl::string_view::npos) {
    return absl::InvalidArgumentError("'**' stands beside other characters");
  }
  while (!component.empty()) {
    if (component == "\\") {
      return absl::InvalidArgumentError("a '\\' ends it");
    }
    const bool is_set = component[0] == '[';
    if (component[0] == '\\') component.remove_prefix(1);
    component.remove_prefix(1);
    bool matches = false;
    if (!is_set) continue;
    if (absl::Status status = TakeSet(component, 0, matches); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Glob> Glob::Parse(absl::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the glob \"", Excerpt(pattern, 40),
                     "\" is over the limit of ", kMaxPatternBytes, " bytes"));
  }
  Glob glob;
  for (absl::string_view component : absl::StrSplit(pattern, '/')) {
    const absl::Status status = CheckComponent(component);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the glob \"", pattern, "\" is malformed: ", status.message()));
    }
    glob.components_.emplace_back(component.data(), component.size());
  }
  return glob;
}

std::vector<bool> Glob::Advance(const std::vector<std::string>& path) const {
  const size_t end = components_.size();
  std::vector<bool> positions(end + 1, false);
  positions[0] = true;
  // `**` may match nothing: whoever stands before it stands behind it, too.
  auto skip_any_depth = [&](std::vector<bool>& at) {
    for (size_t i = 0; i < end; ++i) {
      if (at[i] && components_[i] == kAnyDepth) at[i + 1] = true;
    }
  };
  skip_any_depth(positions);
  for (const std::string& component : path) {
    std::vector<bool> next(end + 1, false);
    for (size_t i = 0; i < end; ++i) {
      if (!positions[i]) continue;
      if (components_[i] == kAnyDepth) {
        next[i] = true;
      } else if (MatchesComponent(components_[i], component)) {
        next[i + 1] = true;
      }
    }
    skip_any_depth(next);
    positions = std::move(next);
  }
  return positions;
}

bool Glob::Matches(const std::vector<std::string>& path) const {
  return Advance(path).back();
}

bool Glob::MatchesBelow(const std::vector<std::string>& path) const {
  const std::vector<bool> positions = Advance(path);
  return std::find(positions.begin(), positions.end() - 1, true) !=
         positions.end() - 1;
}

bool Glob::MatchesAllBelow(const std::vector<std::string>& path) const {
  if (components_.back() != kAnyDepth) return false;
  return Advance(path)[components_.size() - 1];
}

}  // namespace bimbackup
