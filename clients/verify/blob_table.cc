#include "clients/verify/blob_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"

namespace bimbackup::verify {

BlobDigest ParseDigest(absl::string_view sha256) {
  const std::string bytes = absl::HexStringToBytes(sha256);
  BlobDigest digest{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), digest.size()),
              digest.begin());
  return digest;
}

uint64_t LeadingBits(const BlobDigest& digest) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | digest[i];
  return bits;
}

uint64_t ShareOf(uint64_t bits, uint64_t shares) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * shares >>
                               64);
}

int64_t BlobTable::Take(const BlobDigest& digest) {
  const auto found = blobs_.find(digest);
  return found == blobs_.end() ? 0 : std::exchange(found->second, 0);
}

}  // namespace bimbackup::verify
