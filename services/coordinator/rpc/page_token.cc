#include "services/coordinator/rpc/page_token.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "services/common/digest.h"

namespace bimbackup::coordinator_rpc {
namespace {

constexpr size_t kScopeLength = 12;

}  // namespace

std::string MakePageToken(absl::string_view scope, absl::string_view cursor) {
  return absl::WebSafeBase64Escape(
      absl::StrCat(Sha256Hex(scope).substr(0, kScopeLength), cursor));
}

absl::StatusOr<std::string> ReadPageToken(absl::string_view scope,
                                          absl::string_view token) {
  if (token.empty()) return std::string();
  std::string text;
  if (!absl::WebSafeBase64Unescape(token, &text) ||
      text.size() <= kScopeLength ||
      text.compare(0, kScopeLength, Sha256Hex(scope), 0, kScopeLength) != 0) {
    return absl::InvalidArgumentError(
        "page_token: not one of this list and request");
  }
  return text.substr(kScopeLength);
}

absl::StatusOr<int> ReadPageSize(int page_size) {
  if (page_size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size: ", page_size, " is below 0"));
  }
  return page_size == 0 ? 100 : std::min(page_size, 1000);
}

}  // namespace bimbackup::coordinator_rpc
