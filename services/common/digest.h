// SHA-1 and SHA-256, streaming, through OpenSSL.

#ifndef SERVICES_COMMON_DIGEST_H_
#define SERVICES_COMMON_DIGEST_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

struct evp_md_ctx_st;

namespace bimbackup {

enum class DigestKind { kSha1, kSha256 };

// A running digest. Not thread-safe. Movable.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void Update(absl::string_view bytes);

  // The digest in lower-case hexadecimal: 40 or 64 characters. Ends the
  // digest; only destruction and assignment may follow.
  std::string FinishHex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// The SHA-256 of `bytes` in lower-case hexadecimal.
std::string Sha256Hex(absl::string_view bytes);

// Whether `text` is a SHA-256 as FinishHex() writes it.
bool IsSha256Hex(absl::string_view text);

}  // namespace bimbackup

#endif  // SERVICES_COMMON_DIGEST_H_
