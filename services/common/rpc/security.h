// How the servers of a process, and its calls to others, are secured.

#ifndef SERVICES_COMMON_RPC_SECURITY_H_
#define SERVICES_COMMON_RPC_SECURITY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/rpc/certificate.h"

namespace CLI {
class App;
}  // namespace CLI

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
namespace experimental {
class FileWatcherCertificateProvider;
}  // namespace experimental
}  // namespace grpc

namespace bimbackup::rpc {

// What the command line says. A value.
struct SecurityFlags {
  TlsFiles tls;
  // Servers only: listen to other machines in plain text.
  bool insecure = false;
};

// Add --tls_cert, --tls_key and --tls_ca, and --insecure, each with its
// environment twin, to a program's flags; `flags` outlives the parse.
void AddTlsFlags(CLI::App& app, SecurityFlags& flags);
void AddInsecureFlag(CLI::App& app, SecurityFlags& flags);

// The credentials of one process: mutual TLS within one private CA, or plain
// text. Files that change are read again within `refresh`, and whatever
// connects from then on sees them; running calls and open connections stay.
// Immutable and thread-safe; may be copied.
class Security {
 public:
  // How often the files are looked at.
  static constexpr absl::Duration kRefresh = absl::Seconds(5);

  // Plain text, for loopback.
  Security() = default;

  // Reads the files, where there are any. INVALID_ARGUMENT as ReadIdentity;
  // `refresh` is rounded up to whole seconds.
  static absl::StatusOr<Security> Load(const SecurityFlags& flags,
                                       absl::Duration refresh = kRefresh);

  bool tls() const { return provider_ != nullptr; }
  const TlsFiles& files() const { return flags_.tls; }

  // Demand a certificate of our CA from clients, and let its role decide
  // what they may call (see roles.h).
  std::shared_ptr<grpc::ServerCredentials> ForServer() const;

  // Show our certificate, and demand one of our CA from the server, for the
  // name by which it is called.
  std::shared_ptr<grpc::ChannelCredentials> ForClient() const;

  // INVALID_ARGUMENT, naming `flag`, when listening on `address` (host:port,
  // or unix:/path) would let other machines in without TLS and nobody said
  // --insecure.
  absl::Status CheckListen(absl::string_view flag,
                           absl::string_view address) const;

 private:
  SecurityFlags flags_;
  // How long the certificate was still good when it was read.
  absl::Duration left_;
  std::shared_ptr<grpc::experimental::FileWatcherCertificateProvider> provider_;
};

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_SECURITY_H_
