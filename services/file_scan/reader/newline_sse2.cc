#include <emmintrin.h>

#include "services/file_scan/reader/newline_isa.h"
#include "services/file_scan/reader/newline_loops.h"

namespace bimbackup::file_scan::reader {
namespace {

struct Sse2 {
  using Zeros = PortableZeros;

  static uint64_t Mask(const char* data) {
    const __m128i newline = _mm_set1_epi8(0x0a);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const __m128i bytes =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * i));
      const uint64_t part = static_cast<uint32_t>(
          _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline)));
      mask |= part << (16 * i);
    }
    return mask;
  }
};

}  // namespace

GapScan ScanSse2(const char* data, size_t size) {
  return ScanLoop<Sse2>(data, size);
}

size_t IndexSse2(const char* data, size_t size, uint32_t* offsets) {
  return IndexLoop<Sse2>(data, size, offsets);
}

}  // namespace bimbackup::file_scan::reader
