#include "services/coordinator/lease/batch.h"

#include <algorithm>

namespace bimbackup::lease {

int BatchFiles(int64_t remaining, int workers, int free_slots) {
  const int64_t shares = int64_t{2} * std::max(workers, 1);
  const int64_t share = (remaining + shares - 1) / shares;
  const int64_t files = std::clamp<int64_t>(share, 1, kMaxBatchFiles);
  return static_cast<int>(std::min<int64_t>(files, std::max(free_slots, 0)));
}

bool BatchBuilder::Take(std::optional<int64_t> size) {
  const int64_t bytes = size.value_or(kUnknownSize);
  if (files_ >= max_files_) return false;
  if (files_ > 0 && bytes > kMaxBatchBytes - bytes_) return false;
  ++files_;
  bytes_ += bytes;
  return true;
}

}  // namespace bimbackup::lease
