#include "services/common/digest.h"

#include <openssl/evp.h>

#include <algorithm>

#include "absl/strings/escaping.h"

namespace bimbackup {
namespace {

// OpenSSL looks a digest up by its name whenever one begins with EVP_sha1() or
// EVP_sha256(), which takes as long as beginning and ending it. What is fetched
// once is kept for as long as the process lives.
const EVP_MD* Method(DigestKind kind) {
  static const EVP_MD* const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kind == DigestKind::kSha1 ? sha1 : sha256;
}

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Digest::Digest(DigestKind kind) : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context_.get(), Method(kind), nullptr);
}

Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::Update(absl::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Digest::FinishHex() {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), value, &size);
  context_.reset();
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(value), size));
}

std::string Sha256Hex(absl::string_view bytes) {
  Digest digest(DigestKind::kSha256);
  digest.Update(bytes);
  return digest.FinishHex();
}

bool IsSha256Hex(absl::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace bimbackup
