// The distinct blobs of a snapshot, or of an equal share of them.

#ifndef CLIENTS_VERIFY_BLOB_TABLE_H_
#define CLIENTS_VERIFY_BLOB_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace bimbackup::verify {

// A SHA-256 as bytes.
using BlobDigest = std::array<unsigned char, 32>;

// `sha256` is 64 hexadecimal digits.
BlobDigest ParseDigest(absl::string_view sha256);

// The digest's first eight bytes: uniformly distributed, so that equal shares
// of their range are equal shares of the blobs.
uint64_t LeadingBits(const BlobDigest& digest);

// Which of `shares` equal shares, from 0, a uniformly distributed number lies
// in.
uint64_t ShareOf(uint64_t bits, uint64_t shares);

// Counts files by their blob; 37 bytes a slot, so that 3.6 million blobs take
// 155 MB, and 233 MB for a moment while it grows. Not thread-safe.
class BlobTable {
 public:
  // Counts one more file; returns whether it is the blob's first.
  bool Add(const BlobDigest& digest) { return ++blobs_[digest] == 1; }

  // The blob's files; 0, too, from the second call for the same blob on.
  int64_t Take(const BlobDigest& digest);

  size_t size() const { return blobs_.size(); }

 private:
  struct Hash {
    size_t operator()(const BlobDigest& digest) const {
      // Not the leading bits, which a share has in common.
      size_t bits;
      std::memcpy(&bits, digest.data() + 16, sizeof bits);
      return bits;
    }
  };

  absl::flat_hash_map<BlobDigest, uint32_t, Hash> blobs_;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_BLOB_TABLE_H_
