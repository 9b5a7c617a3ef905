// Fuzzes stored names. The first byte of an input chooses the options, each
// line of the rest is the name of one child of a folder.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/format/utf8.h"
#include "services/common/fuzzing.h"

namespace bimbackup::storage::format {
namespace {

// Whether any file system, and Windows where asked, can hold `name`.
void RequireStorable(const std::string& name, const NameOptions& options) {
  FUZZ_REQUIRE(!name.empty());
  FUZZ_REQUIRE(name.size() <= static_cast<size_t>(options.max_name_bytes));
  FUZZ_REQUIRE(name != "." && name != "..");
  FUZZ_REQUIRE(name.back() != '.' && name.back() != ' ');
  FUZZ_REQUIRE(IsUtf8(name));
  for (const char c : name) {
    FUZZ_REQUIRE(c != '/' && !absl::ascii_iscntrl(c));
    if (options.windows_safe) {
      FUZZ_REQUIRE(!absl::StrContains("<>:\"\\|?*", c));
    }
  }
  if (!options.windows_safe) return;
  std::string base = absl::AsciiStrToUpper(name.substr(0, name.find('.')));
  absl::StripTrailingAsciiWhitespace(&base);
  for (const char* device : {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}) {
    FUZZ_REQUIRE(base != device);
  }
}

void CheckEscape(const std::string& name, const NameOptions& options) {
  const std::string stored = EscapeName(name, options);
  RequireStorable(stored, options);
  NameOptions unlimited = options;
  unlimited.max_name_bytes = 1 << 20;
  const std::string whole = EscapeName(name, unlimited);
  // Reversible, whether or not this one had to be cut.
  if (!name.empty()) FUZZ_REQUIRE(UnescapeName(whole) == name);
  if (whole.size() <= static_cast<size_t>(options.max_name_bytes)) {
    FUZZ_REQUIRE(stored == whole);
  }
}

void CheckFolder(std::vector<NamedChild> children, const NameOptions& options) {
  const std::vector<std::string> names = AssignStoredNames(children, options);
  FUZZ_REQUIRE(names.size() == children.size());
  std::set<std::string> folded;
  for (const std::string& name : names) {
    RequireStorable(name, options);
    FUZZ_REQUIRE(folded.insert(FoldName(name)).second);
  }
  std::reverse(children.begin(), children.end());
  std::vector<std::string> others = AssignStoredNames(children, options);
  std::reverse(others.begin(), others.end());
  FUZZ_REQUIRE(others == names);
}

}  // namespace

void FuzzOne(absl::string_view input) {
  if (input.empty()) return;
  NameOptions options;
  const auto choice = static_cast<unsigned char>(input[0]);
  options.windows_safe = choice % 2 == 0;
  options.max_name_bytes = 64 + choice;
  std::vector<NamedChild> children;
  for (const absl::string_view line : absl::StrSplit(input.substr(1), '\n')) {
    const std::string name(line.data(), line.size());
    CheckEscape(name, options);
    children.push_back({name, absl::StrCat("item-", children.size())});
  }
  CheckFolder(std::move(children), options);
}

}  // namespace bimbackup::storage::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bimbackup::storage::format::FuzzOne(bimbackup::FuzzText(data, size));
  return 0;
}
