// Names as a file system can hold them, and back.

#ifndef CLIENTS_STORAGE_FORMAT_STORED_NAME_H_
#define CLIENTS_STORAGE_FORMAT_STORED_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace bimbackup::storage::format {

struct NameOptions {
  // Longest stored name in bytes; 255 on most file systems, 143 on encrypted
  // shares. At least 64.
  int max_name_bytes = 255;
  // Also escape what Windows reserves: < > : " \ | ? * and device names.
  bool windows_safe = true;
};

// `name` with what a file system cannot hold percent-escaped: '/', NUL,
// control characters, "." and "..", a trailing dot or space, bytes that are
// not UTF-8, Windows' reserved characters and device names where asked; '%'
// only where two hexadecimal digits follow. Reversible by Unescape(), unless
// the result had to be cut: then it ends in a hash and its extension.
std::string EscapeName(absl::string_view name, const NameOptions& options);

// Undoes EscapeName() of a name that was not cut.
std::string UnescapeName(absl::string_view stored_name);

// One child of a folder, to be named.
struct NamedChild {
  std::string name;
  // Unique in the account: item, folder or project id.
  std::string id;
};

// Stored names for all children of one folder, in the order given: escaped,
// cut, and where two would be equal after case folding and NFC, all but the
// one whose id sorts first get a suffix from their id before their extension.
// A function of the set of children alone, whatever their order.
std::vector<std::string> AssignStoredNames(
    const std::vector<NamedChild>& children, const NameOptions& options);

}  // namespace bimbackup::storage::format

#endif  // CLIENTS_STORAGE_FORMAT_STORED_NAME_H_
