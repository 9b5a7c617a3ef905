// Transfers in the catalog's order from which now and then the largest is
// taken.

#ifndef SERVICES_COORDINATOR_LEASE_TRANSFER_QUEUE_H_
#define SERVICES_COORDINATOR_LEASE_TRANSFER_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace bimbackup::lease {

// Ids of transfers with their sizes. A share of what is taken is the largest,
// so that no big file is left for the end of the run; the rest goes in order
// of ids. Not thread-safe.
class TransferQueue {
 public:
  // One of this many takes the largest.
  static constexpr int kLargestEvery = 4;

  void Add(int64_t id, int64_t size) {
    by_id_.insert({id, size});
    by_size_.insert({size, id});
  }

  void Remove(int64_t id, int64_t size) {
    by_id_.erase({id, size});
    by_size_.erase({size, id});
  }

  // The next to be taken; nothing where the queue is empty.
  std::optional<int64_t> Peek() const {
    if (by_id_.empty()) return std::nullopt;
    if (taken_ % kLargestEvery == 0) return by_size_.rbegin()->second;
    return by_id_.begin()->first;
  }

  // Removes what Peek() named, whose size this is.
  void Take(int64_t id, int64_t size) {
    Remove(id, size);
    ++taken_;
  }

  size_t size() const { return by_id_.size(); }
  bool empty() const { return by_id_.empty(); }

 private:
  std::set<std::pair<int64_t, int64_t>> by_id_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t taken_ = 0;
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_TRANSFER_QUEUE_H_
