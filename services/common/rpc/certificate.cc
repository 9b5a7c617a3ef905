#include "services/common/rpc/certificate.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "openssl/err.h"
#include "openssl/pem.h"
#include "openssl/x509_vfy.h"
#include "services/common/status_macros.h"

namespace bimbackup::rpc {
namespace {

// Far above any chain of certificates.
constexpr size_t kMaxFileBytes = 1 << 20;

struct NamedFile {
  absl::string_view flag;
  const std::string& path;
};

absl::Status Unusable(const NamedFile& file, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.flag, ": ", file.path, " ", why));
}

absl::StatusOr<std::string> ReadFile(const NamedFile& file) {
  std::ifstream stream(file.path, std::ios::binary);
  if (!stream) {
    return Unusable(file,
                    absl::StrCat("cannot be read: ", std::strerror(errno)));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || stream.gcount() == 0) {
    return Unusable(file, "is empty, or cannot be read");
  }
  if (stream.gcount() > kMaxFileBytes) return Unusable(file, "is too long");
  text.resize(stream.gcount());
  return text;
}

// A file without a password never asks the terminal for one.
int NoPassword(char*, int, int, void*) { return 0; }

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;

BioPtr Reading(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
                &BIO_free);
}

absl::StatusOr<std::vector<std::shared_ptr<X509>>> ReadCertificates(
    const NamedFile& file) {
  ABSL_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const BioPtr bio = Reading(text);
  std::vector<std::shared_ptr<X509>> certificates;
  while (X509* next =
             PEM_read_bio_X509(bio.get(), nullptr, &NoPassword, nullptr)) {
    certificates.emplace_back(next, &X509_free);
  }
  // The end of the file is an error, too.
  ERR_clear_error();
  if (certificates.empty()) return Unusable(file, "holds no PEM certificate");
  return certificates;
}

absl::StatusOr<std::shared_ptr<EVP_PKEY>> ReadKey(const NamedFile& file) {
  ABSL_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const BioPtr bio = Reading(text);
  EVP_PKEY* key =
      PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassword, nullptr);
  ERR_clear_error();
  if (key == nullptr) {
    return Unusable(file, "holds no PEM key without a password");
  }
  return std::shared_ptr<EVP_PKEY>(key, &EVP_PKEY_free);
}

absl::Status CheckComplete(const TlsFiles& files) {
  const NamedFile given[] = {{"--tls_cert", files.cert},
                             {"--tls_key", files.key},
                             {"--tls_ca", files.ca}};
  for (const NamedFile& file : given) {
    if (!file.path.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(file.flag,
                     " is missing: --tls_cert, --tls_key and --tls_ca go "
                     "together"));
  }
  return absl::OkStatus();
}

// The reason for which the CAs do not stand in for the certificate, if any.
absl::Status CheckSigned(const Identity& identity, const NamedFile& cert,
                         const std::vector<std::shared_ptr<X509>>& cas) {
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(
      X509_STORE_new(), &X509_STORE_free);
  for (const auto& ca : cas) X509_STORE_add_cert(store.get(), ca.get());
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> chain(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (const auto& link : identity.chain) sk_X509_push(chain.get(), link.get());
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> context(
      X509_STORE_CTX_new(), &X509_STORE_CTX_free);
  if (X509_STORE_CTX_init(context.get(), store.get(),
                          identity.certificate.get(), chain.get()) != 1) {
    return absl::ResourceExhaustedError("no memory for a certificate");
  }
  const bool good = X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (good) return absl::OkStatus();
  return Unusable(cert, absl::StrCat("is not good under --tls_ca: ",
                                     X509_verify_cert_error_string(error)));
}

}  // namespace

absl::StatusOr<Identity> ReadIdentity(const TlsFiles& files) {
  ABSL_RETURN_IF_ERROR(CheckComplete(files));
  const NamedFile cert = {"--tls_cert", files.cert};
  const NamedFile key = {"--tls_key", files.key};
  ABSL_ASSIGN_OR_RETURN(auto certificates, ReadCertificates(cert));
  Identity identity;
  identity.certificate = certificates.front();
  identity.chain.assign(certificates.begin() + 1, certificates.end());
  ABSL_ASSIGN_OR_RETURN(identity.key, ReadKey(key));
  const bool pair = X509_check_private_key(identity.certificate.get(),
                                           identity.key.get()) == 1;
  ERR_clear_error();
  if (!pair) {
    return Unusable(key, absl::StrCat("is not the key of ", files.cert));
  }
  ABSL_ASSIGN_OR_RETURN(const auto cas,
                        ReadCertificates({"--tls_ca", files.ca}));
  ABSL_RETURN_IF_ERROR(CheckSigned(identity, cert, cas));
  return identity;
}

absl::Duration TimeLeft(const X509& certificate) {
  int days = 0;
  int seconds = 0;
  // From now; fails only for a malformed time, which was never good.
  ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(&certificate));
  return absl::Hours(24) * days + absl::Seconds(seconds);
}

}  // namespace bimbackup::rpc
