// A set of numbers that tells quickly what is not in it.

#ifndef SERVICES_COORDINATOR_CATALOG_HASH_FILTER_H_
#define SERVICES_COORDINATOR_CATALOG_HASH_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bimbackup::catalog {

// A Bloom filter that grows. Nothing can be taken out. Takes two to ten bytes
// for each number, of a million three, and 128 KiB at least. Not thread-safe.
class HashFilter {
 public:
  void Add(int64_t hash);

  // True for each number that was added, and for less than one in a hundred
  // others.
  bool MayContain(int64_t hash) const;

 private:
  // A line of the processor's cache. A number sets one bit in each word.
  struct alignas(64) Block {
    std::array<uint64_t, 8> words = {};
  };
  using Layer = std::vector<Block>;
  static constexpr size_t kHalf = 4;

  // Whether the bits are set in half of the words, from `first` on.
  static bool Holds(const Block& block, uint64_t bits, size_t first);

  // Each has room for four times what the one before it has.
  std::vector<Layer> layers_;
  // Numbers for which the last one has room.
  size_t room_ = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_HASH_FILTER_H_
