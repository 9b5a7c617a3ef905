#include "services/coordinator/catalog/hash_filter.h"

#include <algorithm>

namespace bimbackup::catalog {
namespace {

// Sixteen bits for each number, of which it sets eight: a full layer takes one
// in a thousand for what it holds.
constexpr size_t kNumbersPerBlock = 32;
constexpr size_t kFirstBlocks = 2048;
// Each layer costs whoever asks a line that is seldom in the cache.
constexpr size_t kGrowth = 4;

// Numbers that differ in some bits only, as those of one project do, are to
// lie anywhere.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

size_t BlockIndex(uint64_t mixed, size_t blocks) {
  return static_cast<size_t>(((mixed >> 32) * blocks) >> 32);
}

// The bit in the word of this index.
uint64_t Bit(uint64_t bits, size_t word) {
  return uint64_t{1} << ((bits >> (16 + 6 * word)) & 63);
}

// What Bit() takes from.
uint64_t Bits(uint64_t mixed) { return mixed * 0x9e3779b97f4a7c15; }

}  // namespace

void HashFilter::Add(int64_t hash) {
  if (room_ == 0) {
    // What is in the layers before stays there: to spread it over a larger one
    // would take the numbers themselves.
    const size_t blocks =
        layers_.empty() ? kFirstBlocks : kGrowth * layers_.back().size();
    layers_.emplace_back(blocks);
    room_ = blocks * kNumbersPerBlock;
  }
  --room_;
  const uint64_t mixed = Mix(static_cast<uint64_t>(hash));
  const uint64_t bits = Bits(mixed);
  Layer& layer = layers_.back();
  Block& block = layer[BlockIndex(mixed, layer.size())];
  for (size_t i = 0; i < block.words.size(); ++i) {
    block.words[i] |= Bit(bits, i);
  }
}

bool HashFilter::Holds(const Block& block, uint64_t bits, size_t first) {
  uint64_t missing = 0;
  for (size_t i = first; i < first + kHalf; ++i) {
    missing |= Bit(bits, i) & ~block.words[i];
  }
  return missing == 0;
}

bool HashFilter::MayContain(int64_t hash) const {
  const uint64_t mixed = Mix(static_cast<uint64_t>(hash));
  const uint64_t bits = Bits(mixed);
  return std::any_of(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    const Block& block = layer[BlockIndex(mixed, layer.size())];
    // Most are told from the first half.
    return Holds(block, bits, 0) && Holds(block, bits, kHalf);
  });
}

}  // namespace bimbackup::catalog
