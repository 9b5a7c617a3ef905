// Certificates for tests, made on the spot.

#ifndef SERVICES_COMMON_RPC_TEST_CERTIFICATES_H_
#define SERVICES_COMMON_RPC_TEST_CERTIFICATES_H_

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "openssl/evp.h"
#include "openssl/x509.h"
#include "services/common/rpc/certificate.h"

namespace bimbackup::rpc {

// What a certificate shall say.
struct CertificateWish {
  std::string common_name = "test";
  // As openssl writes them, "URI:bimbackup://role/worker" for example.
  std::string alternative_names = "DNS:localhost,IP:127.0.0.1";
  // From now.
  absl::Duration from = -absl::Hours(1);
  absl::Duration until = absl::Hours(1);
};

// The names of a certificate for a client with that role.
std::string RoleNames(absl::string_view role);

// A private CA. Thread-compatible.
class TestCa {
 public:
  TestCa();

  // Makes a key and a certificate, and lets `folder`/current lead to them, at
  // one stroke: TlsFiles that are there already change together.
  TlsFiles Issue(const std::filesystem::path& folder,
                 const CertificateWish& wish = {});

 private:
  const std::shared_ptr<EVP_PKEY> key_;
  const std::shared_ptr<X509> certificate_;
  int issued_ = 0;
};

// A folder that ends with the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();

  std::filesystem::path operator/(absl::string_view name) const {
    return path_ / std::string(name.data(), name.size());
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_TEST_CERTIFICATES_H_
