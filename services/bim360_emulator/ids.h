// The identifiers that the emulator gives out. Each encodes a 64-bit key
// reversibly, so that no table from identifier to node is kept, and looks
// like Autodesk's: 22 characters of base64url, or a UUID.

#ifndef SERVICES_BIM360_EMULATOR_IDS_H_
#define SERVICES_BIM360_EMULATOR_IDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace bimbackup::bim360_emulator {

// A bijection of 64-bit values that spreads every bit over all others.
uint64_t MixBits(uint64_t value);

// A 64-bit hash of `text` that no process or platform changes.
uint64_t StableHash(absl::string_view text, uint64_t seed);

// Encodes and decodes identifiers; different seeds give different ones.
// Decoding returns nothing for text that encoding cannot have made.
// Immutable, thus thread-safe.
class IdCodec {
 public:
  explicit IdCodec(uint64_t seed);

  std::string FolderId(uint64_t key) const;
  std::string ItemId(uint64_t key) const;
  std::string VersionId(uint64_t key, int number) const;
  // A UUID, without the extension that Autodesk's keys mostly have: a file
  // keeps its object whatever it is renamed to.
  std::string ObjectKey(uint64_t key) const;
  // A version 4 UUID for the project of this index.
  std::string ProjectGuid(uint64_t index) const;

  std::optional<uint64_t> ParseFolderId(absl::string_view id) const;
  std::optional<uint64_t> ParseItemId(absl::string_view id) const;
  struct VersionKey {
    uint64_t key = 0;
    int number = 0;
  };
  std::optional<VersionKey> ParseVersionId(absl::string_view id) const;
  std::optional<uint64_t> ParseObjectKey(absl::string_view object_key) const;

 private:
  std::string Token(uint64_t key, uint64_t domain) const;
  std::optional<uint64_t> ParseToken(absl::string_view token,
                                     uint64_t domain) const;
  std::string Uuid(uint64_t key, uint64_t domain) const;

  const uint64_t seed_;
};

// The extension of a file name in lower case, without its dot; empty when
// there is none of one to eight letters or digits.
std::string PlainExtension(absl::string_view name);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_IDS_H_
