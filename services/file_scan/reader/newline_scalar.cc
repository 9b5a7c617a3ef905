#include "services/file_scan/reader/newline_isa.h"
#include "services/file_scan/reader/newline_loops.h"

namespace bimbackup::file_scan::reader {
namespace {

struct Scalar {
  using Zeros = PortableZeros;

  // Eight bytes at a time: a byte of `word` becomes zero where it was a line
  // feed, and only such a byte keeps its high bit clear in the sum.
  static uint64_t Mask(const char* data) {
    constexpr uint64_t kLow7 = 0x7f7f7f7f7f7f7f7f;
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; ++i) {
      uint64_t word;
      memcpy(&word, data + 8 * i, sizeof(word));
      word ^= 0x0a0a0a0a0a0a0a0a;
      const uint64_t found = ~(((word & kLow7) + kLow7) | word | kLow7);
      // Gathers the eight high bits into one byte, the first byte lowest.
      mask |= (((found >> 7) * 0x0102040810204080) >> 56) << (8 * i);
    }
    return mask;
  }
};

}  // namespace

GapScan ScanScalar(const char* data, size_t size) {
  return ScanLoop<Scalar>(data, size);
}

size_t IndexScalar(const char* data, size_t size, uint32_t* offsets) {
  return IndexLoop<Scalar>(data, size, offsets);
}

}  // namespace bimbackup::file_scan::reader
