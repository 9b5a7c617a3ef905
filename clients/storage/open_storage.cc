#include <cctype>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/storage/local/local_storage.h"
#include "clients/storage/storage.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage {
namespace {

// Undoes a URL's percent-escapes.
std::string DecodePath(absl::string_view text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() &&
        std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
        std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
      path += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      path += text[i];
    }
  }
  return path;
}

absl::StatusOr<std::string> FolderOf(absl::string_view url) {
  if (absl::StartsWith(url, "/")) return std::string(url);
  absl::string_view rest = url;
  if (absl::ConsumePrefix(&rest, "file://")) {
    absl::ConsumePrefix(&rest, "localhost");
    if (absl::StartsWith(rest, "/")) return DecodePath(rest);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "storage '", url, "' is neither file:///… nor an absolute path"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(
    const OpenOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const std::string folder, FolderOf(options.url));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<local::LocalStorage> storage,
                        local::LocalStorage::Open(folder, options));
  return std::unique_ptr<Storage>(std::move(storage));
}

}  // namespace bimbackup::storage
