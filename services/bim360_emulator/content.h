// The bytes of files: generated, sparse, given, or on disk.

#ifndef SERVICES_BIM360_EMULATOR_CONTENT_H_
#define SERVICES_BIM360_EMULATOR_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "services/common/digest.h"

namespace bimbackup::bim360_emulator {

// A sequence of bytes that can be read from anywhere. Immutable, thus
// thread-safe.
class Content {
 public:
  virtual ~Content() = default;

  virtual int64_t size() const = 0;

  // Writes the `count` bytes from `offset` on to `out`; all must lie within
  // size(). Returns false when they cannot be had any more.
  virtual bool Read(int64_t offset, char* out, size_t count) const = 0;
};

// `size` pseudo-random bytes that depend on `seed` only and repeat nowhere;
// any offset costs the same.
std::shared_ptr<const Content> GeneratedContent(uint64_t seed, int64_t size);

// As GeneratedContent for the first 64 KiB, zeros from there on.
std::shared_ptr<const Content> SparseContent(uint64_t seed, int64_t size);

std::shared_ptr<const Content> LiteralContent(std::string bytes);

// The file at `path` as it is while open; links are not followed. NOT_FOUND
// when it cannot be opened.
absl::StatusOr<std::shared_ptr<const Content>> DiskContent(
    const std::string& path);

// The digest of all bytes in lower-case hexadecimal; empty when they cannot
// be read. Takes about a second a gigabyte.
std::string ContentDigest(const Content& content, DigestKind kind);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_CONTENT_H_
