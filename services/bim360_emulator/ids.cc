#include "services/bim360_emulator/ids.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr absl::string_view kFolderPrefix = "urn:adsk.wipprod:fs.folder:co.";
constexpr absl::string_view kItemPrefix = "urn:adsk.wipprod:dm.lineage:";
constexpr absl::string_view kVersionPrefix = "urn:adsk.wipprod:fs.file:vf.";
constexpr absl::string_view kVersionQuery = "?version=";

constexpr uint64_t kFolderDomain = 0x6f1d3a8c55e90b21;
constexpr uint64_t kItemDomain = 0x2b97c4e1f8d06a73;
constexpr uint64_t kVersionDomain = 0xd4518e2fa93c7b05;
constexpr uint64_t kObjectDomain = 0x91e6b70d3c2f5a48;
constexpr uint64_t kProjectDomain = 0x3ca85f1e70b4d296;

constexpr uint64_t kFirstMultiplier = 0xbf58476d1ce4e5b9;
constexpr uint64_t kSecondMultiplier = 0x94d049bb133111eb;

// The inverse of an odd number modulo 2^64, by Newton's iteration.
constexpr uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

uint64_t UnmixBits(uint64_t value) {
  value ^= (value >> 31) ^ (value >> 62);
  value *= InverseOf(kSecondMultiplier);
  value ^= (value >> 27) ^ (value >> 54);
  value *= InverseOf(kFirstMultiplier);
  value ^= (value >> 30) ^ (value >> 60);
  return value;
}

void AppendBytes(uint64_t value, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

uint64_t ReadBytes(absl::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = (value << 8) | static_cast<uint8_t>(c);
  return value;
}

}  // namespace

uint64_t MixBits(uint64_t value) {
  value ^= value >> 30;
  value *= kFirstMultiplier;
  value ^= value >> 27;
  value *= kSecondMultiplier;
  value ^= value >> 31;
  return value;
}

uint64_t StableHash(absl::string_view text, uint64_t seed) {
  uint64_t hash = MixBits(seed ^ text.size());
  while (!text.empty()) {
    hash = MixBits(hash ^ ReadBytes(text.substr(0, 8))) + 0x9e3779b97f4a7c15;
    text.remove_prefix(text.size() < 8 ? text.size() : 8);
  }
  return MixBits(hash);
}

IdCodec::IdCodec(uint64_t seed) : seed_(MixBits(seed)) {}

std::string IdCodec::Token(uint64_t key, uint64_t domain) const {
  const uint64_t first = MixBits(key ^ domain ^ seed_);
  std::string bytes;
  AppendBytes(first, bytes);
  AppendBytes(MixBits(first + (domain ^ MixBits(seed_))), bytes);
  std::string text;
  absl::WebSafeBase64Escape(bytes, &text);
  return text;
}

std::optional<uint64_t> IdCodec::ParseToken(absl::string_view token,
                                            uint64_t domain) const {
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(token, &bytes) || bytes.size() != 16) {
    return std::nullopt;
  }
  const uint64_t key =
      UnmixBits(ReadBytes(absl::string_view(bytes).substr(0, 8))) ^ domain ^
      seed_;
  if (Token(key, domain) != token) return std::nullopt;
  return key;
}

std::string IdCodec::Uuid(uint64_t key, uint64_t domain) const {
  const uint64_t mixed = MixBits(key ^ domain ^ seed_);
  const uint64_t check = MixBits(mixed + (domain ^ MixBits(seed_)));
  return absl::StrFormat("%08x-%04x-4%03x-%x%03x-%04x%08x", mixed >> 32,
                         (mixed >> 16) & 0xffff, check & 0xfff,
                         8 + ((check >> 12) & 3), (check >> 16) & 0xfff,
                         mixed & 0xffff, check >> 32);
}

std::string IdCodec::FolderId(uint64_t key) const {
  return absl::StrCat(kFolderPrefix, Token(key, kFolderDomain));
}

std::string IdCodec::ItemId(uint64_t key) const {
  return absl::StrCat(kItemPrefix, Token(key, kItemDomain));
}

std::string IdCodec::VersionId(uint64_t key, int number) const {
  return absl::StrCat(kVersionPrefix, Token(key, kVersionDomain), kVersionQuery,
                      number);
}

std::string IdCodec::ObjectKey(uint64_t key) const {
  return Uuid(key, kObjectDomain);
}

std::string IdCodec::ProjectGuid(uint64_t index) const {
  return Uuid(index, kProjectDomain);
}

std::optional<uint64_t> IdCodec::ParseFolderId(absl::string_view id) const {
  if (!absl::ConsumePrefix(&id, kFolderPrefix)) return std::nullopt;
  return ParseToken(id, kFolderDomain);
}

std::optional<uint64_t> IdCodec::ParseItemId(absl::string_view id) const {
  if (!absl::ConsumePrefix(&id, kItemPrefix)) return std::nullopt;
  return ParseToken(id, kItemDomain);
}

std::optional<IdCodec::VersionKey> IdCodec::ParseVersionId(
    absl::string_view id) const {
  if (!absl::ConsumePrefix(&id, kVersionPrefix)) return std::nullopt;
  const size_t query = id.find(kVersionQuery);
  if (query == absl::string_view::npos) return std::nullopt;
  VersionKey result;
  const std::optional<uint64_t> key =
      ParseToken(id.substr(0, query), kVersionDomain);
  if (!key.has_value() ||
      !absl::SimpleAtoi(id.substr(query + kVersionQuery.size()),
                        &result.number)) {
    return std::nullopt;
  }
  result.key = *key;
  return result;
}

std::optional<uint64_t> IdCodec::ParseObjectKey(
    absl::string_view object_key) const {
  const absl::string_view uuid = object_key;
  if (uuid.size() != 36) return std::nullopt;
  const std::string hex =
      absl::StrCat(uuid.substr(0, 8), uuid.substr(9, 4), uuid.substr(24, 4));
  uint64_t mixed = 0;
  if (!absl::SimpleHexAtoi(hex, &mixed)) return std::nullopt;
  const uint64_t key = UnmixBits(mixed) ^ kObjectDomain ^ seed_;
  if (Uuid(key, kObjectDomain) != uuid) return std::nullopt;
  return key;
}

std::string PlainExtension(absl::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos) return "";
  const absl::string_view extension = name.substr(dot + 1);
  if (extension.empty() || extension.size() > 8) return "";
  for (const char c : extension) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) return "";
  }
  return absl::AsciiStrToLower(extension);
}

}  // namespace bimbackup::bim360_emulator
