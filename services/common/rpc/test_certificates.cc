#include "services/common/rpc/test_certificates.h"

#include <stdlib.h>

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "openssl/pem.h"
#include "openssl/rand.h"
#include "openssl/x509v3.h"

namespace bimbackup::rpc {
namespace {

std::shared_ptr<EVP_PKEY> NewKey() {
  return {EVP_EC_gen("P-256"), &EVP_PKEY_free};
}

void AddExtension(X509* certificate, X509* issuer, int kind,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// A certificate without extensions, not signed.
std::shared_ptr<X509> Draft(const CertificateWish& wish, EVP_PKEY* key) {
  std::shared_ptr<X509> draft(X509_new(), &X509_free);
  X509_set_version(draft.get(), 2);
  uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(draft.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(draft.get()),
                  absl::ToInt64Seconds(wish.from));
  X509_gmtime_adj(X509_getm_notAfter(draft.get()),
                  absl::ToInt64Seconds(wish.until));
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(draft.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1, -1,
      0);
  X509_set_pubkey(draft.get(), key);
  return draft;
}

std::shared_ptr<X509> SelfSigned(EVP_PKEY* key) {
  CertificateWish wish;
  wish.common_name = "test CA";
  std::shared_ptr<X509> ca = Draft(wish, key);
  X509_set_issuer_name(ca.get(), X509_get_subject_name(ca.get()));
  AddExtension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(ca.get(), key, EVP_sha256());
  return ca;
}

void WritePem(const std::filesystem::path& path, X509* certificate,
              EVP_PKEY* key) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (certificate != nullptr) PEM_write_X509(file, certificate);
  if (key != nullptr) {
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  }
  std::fclose(file);
}

}  // namespace

std::string RoleNames(absl::string_view role) {
  return absl::StrCat("DNS:localhost,IP:127.0.0.1,URI:bimbackup://role/", role);
}

TestCa::TestCa() : key_(NewKey()), certificate_(SelfSigned(key_.get())) {}

TlsFiles TestCa::Issue(const std::filesystem::path& folder,
                       const CertificateWish& wish) {
  const std::shared_ptr<EVP_PKEY> key = NewKey();
  const std::shared_ptr<X509> certificate = Draft(wish, key.get());
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(certificate_.get()));
  AddExtension(certificate.get(), certificate_.get(), NID_subject_alt_name,
               wish.alternative_names);
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  const std::filesystem::path version =
      folder / absl::StrCat("version-", ++issued_);
  std::filesystem::create_directories(version);
  WritePem(version / "cert.pem", certificate.get(), nullptr);
  WritePem(version / "key.pem", nullptr, key.get());
  WritePem(version / "ca.pem", certificate_.get(), nullptr);
  const std::filesystem::path current = folder / "current";
  std::filesystem::create_directory_symlink(version.filename(),
                                            folder / "next");
  std::filesystem::rename(folder / "next", current);
  return {current / "cert.pem", current / "key.pem", current / "ca.pem"};
}

ScratchFolder::ScratchFolder() {
  std::string name =
      std::filesystem::temp_directory_path() / "bimbackup-XXXXXX";
  path_ = mkdtemp(name.data());
}

ScratchFolder::~ScratchFolder() { std::filesystem::remove_all(path_); }

}  // namespace bimbackup::rpc
