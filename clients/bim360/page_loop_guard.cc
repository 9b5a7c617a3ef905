#include "clients/bim360/page_loop_guard.h"

#include <functional>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace bimbackup::bim360 {

absl::Status PageLoopGuard::Visit(absl::string_view page_url) {
  if (seen_.size() >= max_pages_) {
    return absl::DataLossError(absl::StrCat("the listing has more than ",
                                            max_pages_, " pages; given up"));
  }
  const std::string_view text(page_url.data(), page_url.size());
  if (!seen_.insert(std::hash<std::string_view>{}(text)).second) {
    return absl::DataLossError(
        "the listing's next link leads back to a page that was read before");
  }
  return absl::OkStatus();
}

}  // namespace bimbackup::bim360
