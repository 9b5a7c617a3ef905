// A set of SHA-256s that may be larger than memory.

#ifndef SERVICES_COORDINATOR_RETENTION_DIGEST_SET_H_
#define SERVICES_COORDINATOR_RETENTION_DIGEST_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/common/scratch_file.h"

namespace bimbackup::retention {

// What a digest says, in half the bytes of its text.
using BinaryDigest = std::array<char, 32>;

// `sha256` is one as IsSha256Hex() takes it.
BinaryDigest ToBinary(absl::string_view sha256);
std::string ToHex(const BinaryDigest& digest);

// Ten million digests are 320 MB, more than a coordinator may have; to read
// all manifests once for each part of them would take that many times as
// long. So what does not fit is sorted and spilled to a file, from which each
// of 256 buckets, by their first byte, is read when it is its turn: memory is
// bounded by `max_in_memory` digests and one bucket. Digests that are added
// twice within one filling are spilled once: add manifests of one project in a
// row. Not thread-safe.
class DigestSet {
 public:
  static constexpr int kBuckets = 256;
  // 8 MiB.
  static constexpr size_t kMaxInMemory = 256 << 10;

  // The file is made in `folder` when it is needed.
  explicit DigestSet(std::string folder, size_t max_in_memory = kMaxInMemory)
      : folder_(std::move(folder)), max_in_memory_(max_in_memory) {}

  absl::Status Add(absl::string_view sha256);

  // Those whose first byte is `bucket`, sorted, each once.
  absl::StatusOr<std::vector<BinaryDigest>> ReadBucket(int bucket);

 private:
  // A spilled filling: where each bucket begins, and the last one ends, in
  // digests from `offset` on.
  struct Run {
    int64_t offset = 0;
    std::array<uint32_t, kBuckets + 1> begins;
  };

  absl::Status Spill();

  const std::string folder_;
  const size_t max_in_memory_;
  std::vector<BinaryDigest> in_memory_;
  std::unique_ptr<ScratchFile> file_;
  std::vector<Run> runs_;
};

}  // namespace bimbackup::retention

#endif  // SERVICES_COORDINATOR_RETENTION_DIGEST_SET_H_
