#include "services/common/rpc/security.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "services/common/clock.h"
#include "services/common/logging.h"
#include "services/common/rpc/roles.h"
#include "services/common/status_macros.h"

namespace bimbackup::rpc {
namespace {

// A certificate that expires sooner is told of.
constexpr absl::Duration kSoon = absl::Hours(30 * 24);

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  if (address->sa_family != AF_INET6) return false;
  const in6_addr& v6 =
      reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

// Whether nobody but this machine can reach the address. What cannot be
// looked up counts as open to all.
bool IsPrivateToThisMachine(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  absl::string_view host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) return false;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(std::string(host.data(), host.size()).c_str(), nullptr,
                  &hints, &found) != 0) {
    return false;
  }
  bool loopback = true;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    loopback = loopback && IsLoopback(one->ai_addr);
  }
  freeaddrinfo(found);
  return loopback;
}

}  // namespace

void AddTlsFlags(CLI::App& app, SecurityFlags& flags) {
  app.add_option("--tls_cert", flags.tls.cert,
                 "PEM file of the certificate to show; with --tls_key and "
                 "--tls_ca, all gRPC is mutual TLS")
      ->envname("BIMBACKUP_TLS_CERT");
  app.add_option("--tls_key", flags.tls.key, "PEM file of its key")
      ->envname("BIMBACKUP_TLS_KEY");
  app.add_option("--tls_ca", flags.tls.ca,
                 "PEM file of the private CA whose certificates are trusted")
      ->envname("BIMBACKUP_TLS_CA");
}

void AddInsecureFlag(CLI::App& app, SecurityFlags& flags) {
  app.add_flag("--insecure", flags.insecure,
               "Without TLS, listen to other machines all the same: whoever "
               "reaches the port may do everything")
      ->envname("BIMBACKUP_INSECURE");
}

absl::StatusOr<Security> Security::Load(const SecurityFlags& flags,
                                        absl::Duration refresh) {
  Security security;
  security.flags_ = flags;
  if (!flags.tls.set()) return security;
  ABSL_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(flags.tls));
  security.left_ = TimeLeft(*identity.certificate);
  const int64_t seconds = absl::ToInt64Seconds(
      std::max(absl::Ceil(refresh, absl::Seconds(1)), absl::Seconds(1)));
  security.provider_ =
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          flags.tls.key, flags.tls.cert, flags.tls.ca,
          static_cast<unsigned int>(seconds));
  return security;
}

std::shared_ptr<grpc::ServerCredentials> Security::ForServer() const {
  if (!tls()) return grpc::InsecureServerCredentials();
  if (left_ < kSoon) {
    spdlog::warn("the certificate {} expires in {} days: renew it",
                 flags_.tls.cert, absl::ToInt64Hours(left_) / 24);
  }
  grpc::experimental::TlsServerCredentialsOptions options(provider_);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  auto credentials = grpc::experimental::TlsServerCredentials(options);
  static SystemClock& clock = *new SystemClock;
  credentials->SetAuthMetadataProcessor(std::make_shared<RoleGate>(clock));
  return credentials;
}

std::shared_ptr<grpc::ChannelCredentials> Security::ForClient() const {
  if (!tls()) return grpc::InsecureChannelCredentials();
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider_);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

absl::Status Security::CheckListen(absl::string_view flag,
                                   absl::string_view address) const {
  if (tls() || flags_.insecure || IsPrivateToThisMachine(address)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      flag, ": other machines can reach ", address,
      ": set --tls_cert, --tls_key and --tls_ca, or --insecure for plain "
      "text without any access control"));
}

}  // namespace bimbackup::rpc
