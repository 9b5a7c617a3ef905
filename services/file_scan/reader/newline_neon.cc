#include <arm_neon.h>

#include "services/file_scan/reader/newline_isa.h"
#include "services/file_scan/reader/newline_loops.h"

namespace bimbackup::file_scan::reader {
namespace {

struct Neon {
  using Zeros = PortableZeros;

  static uint64_t Mask(const char* data) {
    const uint8x16_t newline = vdupq_n_u8(0x0a);
    uint64_t mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const uint8x16_t bytes =
          vld1q_u8(reinterpret_cast<const uint8_t*>(data + 16 * i));
      // One bit of each byte, weighted by its place, added up by halves.
      static constexpr uint8_t kPlaces[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                              1, 2, 4, 8, 16, 32, 64, 128};
      const uint8x16_t bits =
          vandq_u8(vceqq_u8(bytes, newline), vld1q_u8(kPlaces));
      const uint64_t low = vaddv_u8(vget_low_u8(bits));
      const uint64_t high = vaddv_u8(vget_high_u8(bits));
      mask |= (low | (high << 8)) << (16 * i);
    }
    return mask;
  }
};

}  // namespace

GapScan ScanNeon(const char* data, size_t size) {
  return ScanLoop<Neon>(data, size);
}

size_t IndexNeon(const char* data, size_t size, uint32_t* offsets) {
  return IndexLoop<Neon>(data, size, offsets);
}

}  // namespace bimbackup::file_scan::reader
