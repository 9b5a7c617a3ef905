// The loops that all instruction sets share, over masks of 64 bytes.
//
// Included by one source per instruction set, each compiled with options of
// its own. Everything is therefore in an unnamed namespace, and nothing from
// the standard library's templates is used: an inline function that leaked
// from such a source into the rest of the program would be compiled for a
// processor that may not be there.

#ifndef SERVICES_FILE_SCAN_READER_NEWLINE_LOOPS_H_
#define SERVICES_FILE_SCAN_READER_NEWLINE_LOOPS_H_

#include <stdint.h>
#include <string.h>

#include "services/file_scan/reader/newline_kernels.h"

namespace bimbackup::file_scan::reader {
namespace {

constexpr size_t kMaskBytes = 64;

// How far ahead of itself a scan asks for memory. The processor's own
// prefetching ends with every page, so that a mapped file, which no cache
// holds, is waited for at each: asked for four pages early, it is counted in
// 0.55 of the time (measured). What a read has just copied is in the cache,
// and neither gains nor loses.
constexpr size_t kPrefetchBytes = 16 << 10;

// Brings the line of `data` + kPrefetchBytes into the second-level cache,
// where there is memory at all: what is not mapped raises nothing.
inline void Prefetch(const char* data) {
  const uintptr_t ahead = reinterpret_cast<uintptr_t>(data) + kPrefetchBytes;
  __builtin_prefetch(reinterpret_cast<const void*>(ahead), 0, 2);
}

// Counts the zeros of a mask, 64 of an empty one. An instruction set that can
// do so without asking whether the mask is empty brings its own.
struct PortableZeros {
  static uint64_t Trailing(uint64_t mask) {
    return mask == 0 ? 64 : __builtin_ctzll(mask);
  }
  static uint64_t Leading(uint64_t mask) {
    return mask == 0 ? 64 : __builtin_clzll(mask);
  }
};

// The mask of fewer than 64 bytes.
template <typename Isa>
uint64_t TailMask(const char* data, size_t size) {
  char padded[kMaskBytes] = {};
  memcpy(padded, data, size);
  return Isa::Mask(padded);
}

// The state of a scan: the bytes since the last line feed, and the longest
// such run. Without a branch, since line lengths cannot be predicted; hence no
// comparison of the mask with zero, which the compiler would make one of.
struct Gap {
  size_t newlines = 0;
  uint64_t open = 0;
  uint64_t longest = 0;

  template <typename Isa>
  void Add(uint64_t mask) {
    newlines += __builtin_popcountll(mask);
    const uint64_t gap = open + Isa::Zeros::Trailing(mask);
    longest = gap > longest ? gap : longest;
    const uint64_t leading = Isa::Zeros::Leading(mask);
    const uint64_t all_if_none = uint64_t{0} - (leading >> 6);
    open = leading + (open & all_if_none);
  }
};

template <typename Isa>
GapScan ScanLoop(const char* data, size_t size) {
  Gap gap;
  size_t at = 0;
  for (; at + kMaskBytes <= size; at += kMaskBytes) {
    Prefetch(data + at);
    gap.Add<Isa>(Isa::Mask(data + at));
  }
  if (at < size) gap.Add<Isa>(TailMask<Isa>(data + at, size - at));
  GapScan result;
  result.newlines = gap.newlines;
  // Line feeds within one mask leave gaps that were not looked at.
  const uint64_t least = gap.newlines > 1 ? kMaskBytes - 2 : 0;
  result.longest_gap = gap.longest > least ? gap.longest : least;
  return result;
}

template <typename Isa>
size_t WriteOffsets(uint64_t mask, size_t base, uint32_t* offsets) {
  const size_t count = __builtin_popcountll(mask);
  uint32_t* next = offsets;
  // Few lines are so short that more than four end in 64 bytes; writing four
  // always saves a misprediction.
  for (int i = 0; i < 4; ++i) {
    *next++ = static_cast<uint32_t>(base + Isa::Zeros::Trailing(mask));
    mask &= mask - 1;
  }
  while (mask != 0) {
    *next++ = static_cast<uint32_t>(base + Isa::Zeros::Trailing(mask));
    mask &= mask - 1;
  }
  return count;
}

template <typename Isa>
size_t IndexLoop(const char* data, size_t size, uint32_t* offsets) {
  size_t count = 0;
  size_t at = 0;
  for (; at + kMaskBytes <= size; at += kMaskBytes) {
    count += WriteOffsets<Isa>(Isa::Mask(data + at), at, offsets + count);
  }
  if (at < size) {
    count += WriteOffsets<Isa>(TailMask<Isa>(data + at, size - at), at,
                               offsets + count);
  }
  return count;
}

}  // namespace
}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_NEWLINE_LOOPS_H_
