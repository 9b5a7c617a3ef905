// A set of bytes, kept as disjoint ranges.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_BYTE_RANGE_SET_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_BYTE_RANGE_SET_H_

#include <cstdint>
#include <map>
#include <vector>

#include "clients/storage/storage.h"

namespace bimbackup::engine {

// Neighbours are joined, so that what arrives in order is one range. Not
// thread-safe.
class ByteRangeSet {
 public:
  // Adds a range, which may overlap others. An empty one changes nothing.
  void Add(storage::ByteRange range);

  // Removes everything before `position`.
  void DropBefore(int64_t position);

  void Clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }

  // The end of the range that holds `position`; `position` where none does.
  int64_t EndOfRun(int64_t position) const;

  // What of `whole` is not in the set, in order.
  std::vector<storage::ByteRange> MissingIn(storage::ByteRange whole) const;

 private:
  // Begin to end.
  std::map<int64_t, int64_t> ranges_;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_BYTE_RANGE_SET_H_
