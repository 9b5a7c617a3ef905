// The certificate of the HTTP side, which is read again when it changes.

#ifndef SERVICES_COORDINATOR_HTTPS_IDENTITY_H_
#define SERVICES_COORDINATOR_HTTPS_IDENTITY_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "openssl/ssl.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/rpc/certificate.h"

namespace bimbackup::coordinator {

// Thread-safe.
class HttpsIdentity {
 public:
  // How often, at most, the files are looked at: with a connection.
  static constexpr absl::Duration kRefresh = absl::Seconds(5);

  // `clock` outlives it.
  HttpsIdentity(rpc::TlsFiles files, Clock& clock)
      : files_(std::move(files)), clock_(clock) {}

  // What the files hold, or held when they last were good.
  absl::StatusOr<rpc::Identity> Current();

  // Lets `context`, which does not outlive this, show the current
  // certificate in each handshake and speak TLS 1.2 or newer. Asks clients
  // for no certificate: what the HTTP side says is not secret.
  void Install(SSL_CTX& context);

 private:
  static int Choose(SSL* connection, void* self);

  const rpc::TlsFiles files_;
  Clock& clock_;
  Mutex mutex_;
  absl::Duration next_look_ ABSL_GUARDED_BY(mutex_);
  absl::StatusOr<rpc::Identity> current_ ABSL_GUARDED_BY(mutex_) =
      absl::UnavailableError("no certificate was read yet");
};

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_HTTPS_IDENTITY_H_
