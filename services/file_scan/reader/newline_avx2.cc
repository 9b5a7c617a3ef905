#include <immintrin.h>

#include "services/file_scan/reader/newline_isa.h"
#include "services/file_scan/reader/newline_loops.h"

namespace bimbackup::file_scan::reader {
namespace {

struct BitManipulation {
  static uint64_t Trailing(uint64_t mask) { return _tzcnt_u64(mask); }
  static uint64_t Leading(uint64_t mask) { return _lzcnt_u64(mask); }
};

struct Avx2 {
  using Zeros = BitManipulation;

  static uint64_t Mask(const char* data) {
    const __m256i newline = _mm256_set1_epi8(0x0a);
    const __m256i low =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
    const __m256i high =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + 32));
    const uint32_t low_mask = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, newline)));
    const uint32_t high_mask = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, newline)));
    return low_mask | (static_cast<uint64_t>(high_mask) << 32);
  }
};

}  // namespace

GapScan ScanAvx2(const char* data, size_t size) {
  return ScanLoop<Avx2>(data, size);
}

size_t IndexAvx2(const char* data, size_t size, uint32_t* offsets) {
  return IndexLoop<Avx2>(data, size, offsets);
}

}  // namespace bimbackup::file_scan::reader
