// The certificate that a process shows, its key, and the CA whose
// certificates it trusts: PEM files, read and compared.

#ifndef SERVICES_COMMON_RPC_CERTIFICATE_H_
#define SERVICES_COMMON_RPC_CERTIFICATE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "openssl/evp.h"
#include "openssl/x509.h"

namespace bimbackup::rpc {

// The values of --tls_cert, --tls_key and --tls_ca: paths of PEM files. All
// empty for plain text. The certificate's file may hold its chain, too, and
// one file may hold both certificate and key.
struct TlsFiles {
  std::string cert;
  std::string key;
  std::string ca;

  bool set() const { return !cert.empty() || !key.empty() || !ca.empty(); }
};

// What the files hold. A value; immutable, so that threads may share it.
struct Identity {
  std::shared_ptr<X509> certificate;
  // What the file holds after the certificate itself.
  std::vector<std::shared_ptr<X509>> chain;
  std::shared_ptr<EVP_PKEY> key;
};

// Reads the files. INVALID_ARGUMENT, naming the flag and the file, when one
// of the three is missing, cannot be read or holds something else; when the
// key is another certificate's; when the CA did not sign the certificate; or
// when its time is over or has not come.
absl::StatusOr<Identity> ReadIdentity(const TlsFiles& files);

// How long the certificate is still good, in whole seconds; below zero when
// it no longer is.
absl::Duration TimeLeft(const X509& certificate);

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_CERTIFICATE_H_
