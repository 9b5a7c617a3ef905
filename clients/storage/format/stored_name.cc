#include "clients/storage/format/stored_name.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "clients/storage/format/utf8.h"
#include "services/common/digest.h"

namespace bimbackup::storage::format {
namespace {

constexpr absl::string_view kWindowsReserved = "<>:\"\\|?*";
constexpr absl::string_view kDevices[] = {"CON", "PRN",    "AUX",
                                          "NUL", "CONIN$", "CONOUT$"};
// COM1 and LPT1 to 9, and the superscript digits that Windows takes for them.
constexpr absl::string_view kPortDigits[] = {
    "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u00B9", "\u00B2", "\u00B3"};
// A longer "extension" is part of the name.
constexpr size_t kMaxExtensionBytes = 16;
constexpr size_t kHashDigits = 8;

bool IsEscape(absl::string_view text) {
  return text.size() >= 3 && text[0] == '%' && absl::ascii_isxdigit(text[1]) &&
         absl::ascii_isxdigit(text[2]);
}

// Windows looks at what comes before the first dot, without spaces behind.
bool IsDevice(absl::string_view name) {
  const absl::string_view base =
      absl::StripTrailingAsciiWhitespace(name.substr(0, name.find('.')));
  for (absl::string_view device : kDevices) {
    if (absl::EqualsIgnoreCase(base, device)) return true;
  }
  if (!absl::StartsWithIgnoreCase(base, "COM") &&
      !absl::StartsWithIgnoreCase(base, "LPT")) {
    return false;
  }
  const auto* end = std::end(kPortDigits);
  return std::find(std::begin(kPortDigits), end, base.substr(3)) != end;
}

// Whether the byte-sized character at `i` must be escaped.
bool MustEscape(absl::string_view name, size_t i, const NameOptions& options) {
  const char c = name[i];
  if (absl::ascii_iscntrl(c) || c == '/') return true;
  if (c == '%') return IsEscape(name.substr(i));
  if (i + 1 == name.size() && (c == '.' || c == ' ')) return true;
  if (!options.windows_safe) return false;
  return absl::StrContains(kWindowsReserved, c) || (i == 0 && IsDevice(name));
}

std::string Escape(absl::string_view name, const NameOptions& options) {
  std::string escaped;
  for (size_t i = 0; i < name.size();) {
    const size_t size = Utf8CharacterSize(name.substr(i));
    if (size > 1) {
      escaped.append(name.data() + i, size);
    } else if (size == 0 || MustEscape(name, i, options)) {
      absl::StrAppendFormat(&escaped, "%%%02X",
                            static_cast<unsigned char>(name[i]));
    } else {
      escaped += name[i];
    }
    i += std::max<size_t>(size, 1);
  }
  return escaped;
}

// The last dot and what follows, where that is short; else empty.
absl::string_view ExtensionOf(absl::string_view stored_name) {
  const size_t dot = stored_name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 ||
      stored_name.size() - dot > kMaxExtensionBytes) {
    return "";
  }
  return stored_name.substr(dot);
}

// `stored_name` with `suffix` before its extension, its stem cut where it
// would grow too long: at a character, and not within an escape.
std::string AddSuffix(absl::string_view stored_name, absl::string_view suffix,
                      const NameOptions& options) {
  const absl::string_view extension = ExtensionOf(stored_name);
  const absl::string_view stem = absl::StripSuffix(stored_name, extension);
  const auto max_bytes = static_cast<size_t>(options.max_name_bytes);
  size_t room = max_bytes - suffix.size() - extension.size();
  absl::string_view cut = CutUtf8(stem, room);
  if (cut.size() < stem.size()) {
    for (size_t back : {1, 2}) {
      if (cut.size() >= back && IsEscape(stem.substr(cut.size() - back))) {
        cut.remove_suffix(back);
        break;
      }
    }
  }
  return absl::StrCat(cut, suffix, extension);
}

// Suffixes to try, from the id: short ones first, then ones that cannot but
// differ.
std::string IdSuffix(absl::string_view id, int attempt) {
  const std::string hash = Sha256Hex(id);
  const size_t digits = std::min<size_t>(kHashDigits << attempt, 32);
  std::string suffix = absl::StrCat("~", hash.substr(0, digits));
  if (attempt > 2) absl::StrAppend(&suffix, "-", attempt - 1);
  return suffix;
}

}  // namespace

std::string EscapeName(absl::string_view name, const NameOptions& options) {
  std::string escaped = Escape(name, options);
  if (escaped.empty()) return "%";
  if (escaped.size() <= static_cast<size_t>(options.max_name_bytes)) {
    return escaped;
  }
  return AddSuffix(escaped,
                   absl::StrCat("~", Sha256Hex(name).substr(0, kHashDigits)),
                   options);
}

std::string UnescapeName(absl::string_view stored_name) {
  std::string name;
  for (size_t i = 0; i < stored_name.size();) {
    if (IsEscape(stored_name.substr(i))) {
      name += absl::HexStringToBytes(stored_name.substr(i + 1, 2));
      i += 3;
    } else {
      name += stored_name[i++];
    }
  }
  return name;
}

std::vector<std::string> AssignStoredNames(
    const std::vector<NamedChild>& children, const NameOptions& options) {
  std::vector<std::string> names(children.size());
  // By id, so that the order given plays no part.
  std::vector<size_t> order(children.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(children[a].id, children[a].name) <
           std::tie(children[b].id, children[b].name);
  });
  // Everybody's own name is taken before the first suffix is made up, so that
  // no suffix takes the name of a child that needs none.
  std::set<std::string> taken;
  std::vector<size_t> twins;
  for (size_t i : order) {
    names[i] = EscapeName(children[i].name, options);
    if (!taken.insert(FoldName(names[i])).second) twins.push_back(i);
  }
  for (size_t i : twins) {
    std::string candidate;
    int attempt = 0;
    do {
      candidate =
          AddSuffix(names[i], IdSuffix(children[i].id, attempt++), options);
    } while (!taken.insert(FoldName(candidate)).second);
    names[i] = std::move(candidate);
  }
  return names;
}

}  // namespace bimbackup::storage::format
