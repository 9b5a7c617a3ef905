#include <immintrin.h>

#include "services/file_scan/reader/newline_isa.h"
#include "services/file_scan/reader/newline_loops.h"

namespace bimbackup::file_scan::reader {
namespace {

struct BitManipulation {
  static uint64_t Trailing(uint64_t mask) { return _tzcnt_u64(mask); }
  static uint64_t Leading(uint64_t mask) { return _lzcnt_u64(mask); }
};

struct Avx512 {
  using Zeros = BitManipulation;

  static uint64_t Mask(const char* data) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(data),
                                  _mm512_set1_epi8(0x0a));
  }
};

}  // namespace

GapScan ScanAvx512(const char* data, size_t size) {
  return ScanLoop<Avx512>(data, size);
}

size_t IndexAvx512(const char* data, size_t size, uint32_t* offsets) {
  return IndexLoop<Avx512>(data, size, offsets);
}

}  // namespace bimbackup::file_scan::reader
