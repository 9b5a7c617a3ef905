// A gRPC server as every service here runs one: standard health, reflection
// that describes every service listed, one port, a bounded shutdown.

#ifndef SERVICES_COMMON_RPC_GRPC_SERVER_H_
#define SERVICES_COMMON_RPC_GRPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "services/common/rpc/security.h"

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace bimbackup::rpc {

// Thread-safe.
class GrpcServer {
 public:
  // Listens on `address` (host:port, port 0 takes a free one, or
  // unix:/path) and serves `services`, which must outlive the server; they
  // are healthy from the start. INVALID_ARGUMENT when the address cannot be
  // bound, because it is malformed or taken, and for one that `security` does
  // not let us listen on.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      absl::string_view address, const std::vector<grpc::Service*>& services,
      const Security& security = {});

  ~GrpcServer();

  // host:port with the port really taken, or the unix address.
  const std::string& address() const { return address_; }

  // What health answers, for the server and each of its services.
  void SetServing(bool serving);

  // Reports NOT_SERVING, takes no more calls, cancels those that still run
  // after `grace`, returns when all have ended. Idempotent.
  void Shutdown(absl::Duration grace);

 private:
  GrpcServer(std::unique_ptr<grpc::Server> server, std::string address);

  const std::unique_ptr<grpc::Server> server_;
  const std::string address_;
};

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_GRPC_SERVER_H_
