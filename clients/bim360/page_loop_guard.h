// Notices when a listing's pages lead back to one that was read before.

#ifndef CLIENTS_BIM360_PAGE_LOOP_GUARD_H_
#define CLIENTS_BIM360_PAGE_LOOP_GUARD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace bimbackup::bim360 {

// The page URLs of one listing (of one folder, or of the projects), so far.
// Bounded: a listing of more than `max_pages` pages counts as endless. Keeps
// a 64-bit hash of each URL, not the URL. A value; not thread-safe.
class PageLoopGuard {
 public:
  explicit PageLoopGuard(size_t max_pages = 100'000) : max_pages_(max_pages) {}

  // To be called with each next_page_url before it is asked for. DATA_LOSS
  // when it was seen before, or when there have been too many.
  absl::Status Visit(absl::string_view page_url);

 private:
  size_t max_pages_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_PAGE_LOOP_GUARD_H_
