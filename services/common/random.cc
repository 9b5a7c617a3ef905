#include "services/common/random.h"

#include "absl/strings/str_format.h"

namespace bimbackup {

std::string Random::NextUuid() {
  const uint64_t high = (Next() & ~0xf000ULL) | 0x4000ULL;
  const uint64_t low = (Next() & ~(3ULL << 62)) | (2ULL << 62);
  return absl::StrFormat("%08x-%04x-%04x-%04x-%012x", high >> 32,
                         (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                         low & 0xffffffffffffULL);
}

uint64_t SeededRandom::EntropySeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace bimbackup
