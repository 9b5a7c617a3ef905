#include "clients/restore/local_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/storage/format/stored_name.h"
#include "clients/storage/format/utf8.h"
#include "services/common/digest.h"

namespace bimbackup::restore {
namespace {

using storage::format::CutUtf8;
using storage::format::ManifestEntry;

// A longer "extension" is part of the name.
constexpr size_t kMaxExtensionBytes = 16;

storage::format::NameOptions OptionsFor(const NameRules& rules) {
  storage::format::NameOptions options;
  options.max_name_bytes = static_cast<int>(rules.max_bytes);
  options.windows_safe = !rules.holds_reserved;
  return options;
}

// `name` with `addition` before its extension, cut to `max_bytes`.
std::string Insert(absl::string_view name, absl::string_view addition,
                   size_t max_bytes) {
  size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 ||
      name.size() - dot > kMaxExtensionBytes) {
    dot = name.size();
  }
  const absl::string_view extension = name.substr(dot);
  const size_t room = max_bytes - addition.size() - extension.size();
  return absl::StrCat(CutUtf8(name.substr(0, dot), room), addition, extension);
}

}  // namespace

std::vector<EntryName> TreeNames(const ManifestEntry& entry) {
  const std::vector<std::string> stored =
      absl::StrSplit(entry.stored_path, '/');
  if (stored.size() != entry.path.size() + 1) return {};
  std::vector<EntryName> names = {{entry.project_name, stored[0]}};
  for (size_t i = 0; i < entry.path.size(); ++i) {
    names.push_back({entry.path[i], stored[i + 1]});
  }
  return names;
}

std::vector<EntryName> VersionNames(const ManifestEntry& entry) {
  const std::vector<EntryName> names = TreeNames(entry);
  if (names.empty()) return {};
  const std::string addition =
      absl::StrCat(" (version ", entry.version_number, ")");
  constexpr size_t kMaxBytes = NameRules().max_bytes;
  return {{Insert(names.back().original, addition, kMaxBytes),
           Insert(names.back().stored, addition, kMaxBytes)}};
}

bool CanHold(absl::string_view name, const NameRules& rules) {
  if (name.empty() || name == "." || name == ".." ||
      name.size() > rules.max_bytes ||
      name.find('/') != absl::string_view::npos ||
      name.find('\0') != absl::string_view::npos) {
    return false;
  }
  return rules.holds_reserved ||
         storage::format::EscapeName(name, OptionsFor(rules)) == name;
}

std::string FolderNames::Assign(const EntryName& name) {
  for (const std::string* candidate : {&name.original, &name.stored}) {
    if (CanHold(*candidate, rules_) && Take(*candidate)) return *candidate;
  }
  const std::string base =
      storage::format::EscapeName(name.stored, OptionsFor(rules_));
  for (int attempt = 0;; ++attempt) {
    const std::string digest = Sha256Hex(absl::StrCat(attempt, name.stored));
    std::string made_up =
        Insert(base, absl::StrCat("~", digest.substr(0, 8)), rules_.max_bytes);
    if (Take(made_up)) return made_up;
  }
}

bool FolderNames::Take(const std::string& name) {
  return taken_.insert(rules_.folds ? storage::format::FoldName(name) : name)
      .second;
}

}  // namespace bimbackup::restore
