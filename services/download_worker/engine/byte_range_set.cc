#include "services/download_worker/engine/byte_range_set.h"

#include <algorithm>
#include <iterator>

namespace bimbackup::engine {

void ByteRangeSet::Add(storage::ByteRange range) {
  if (range.begin >= range.end) return;
  auto it = ranges_.upper_bound(range.begin);
  if (it != ranges_.begin() && std::prev(it)->second >= range.begin) {
    --it;
    range.begin = it->first;
  }
  while (it != ranges_.end() && it->first <= range.end) {
    range.end = std::max(range.end, it->second);
    it = ranges_.erase(it);
  }
  ranges_[range.begin] = range.end;
}

void ByteRangeSet::DropBefore(int64_t position) {
  while (!ranges_.empty() && ranges_.begin()->first < position) {
    const int64_t end = ranges_.begin()->second;
    ranges_.erase(ranges_.begin());
    if (end > position) ranges_[position] = end;
  }
}

int64_t ByteRangeSet::EndOfRun(int64_t position) const {
  auto it = ranges_.upper_bound(position);
  if (it == ranges_.begin()) return position;
  return std::max(position, std::prev(it)->second);
}

std::vector<storage::ByteRange> ByteRangeSet::MissingIn(
    storage::ByteRange whole) const {
  std::vector<storage::ByteRange> missing;
  int64_t position = whole.begin;
  for (const auto& [begin, end] : ranges_) {
    if (begin >= whole.end) break;
    if (begin > position) missing.push_back({position, begin});
    position = std::max(position, end);
  }
  if (position < whole.end) missing.push_back({position, whole.end});
  return missing;
}

}  // namespace bimbackup::engine
