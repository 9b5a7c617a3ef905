#include "services/coordinator/https_identity.h"

#include <utility>

#include "services/common/logging.h"

namespace bimbackup::coordinator {

absl::StatusOr<rpc::Identity> HttpsIdentity::Current() {
  const absl::Duration now = clock_.Monotonic();
  MutexLock lock(mutex_);
  if (now < next_look_) return current_;
  next_look_ = now + kRefresh;
  absl::StatusOr<rpc::Identity> read = rpc::ReadIdentity(files_);
  if (read.ok() || !current_.ok()) {
    current_ = std::move(read);
  } else {
    // Perhaps they are being replaced just now.
    spdlog::warn("the HTTP side keeps its certificate: {}", read.status());
  }
  return current_;
}

void HttpsIdentity::Install(SSL_CTX& context) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  SSL_CTX_set_cert_cb(&context, &HttpsIdentity::Choose, this);
}

int HttpsIdentity::Choose(SSL* connection, void* self) {
  const absl::StatusOr<rpc::Identity> identity =
      static_cast<HttpsIdentity*>(self)->Current();
  if (!identity.ok() ||
      SSL_use_certificate(connection, identity->certificate.get()) != 1 ||
      SSL_use_PrivateKey(connection, identity->key.get()) != 1) {
    return 0;
  }
  for (const auto& link : identity->chain) {
    if (SSL_add1_chain_cert(connection, link.get()) != 1) return 0;
  }
  return 1;
}

}  // namespace bimbackup::coordinator
