// Status across the gRPC boundary.

#ifndef SERVICES_COMMON_RPC_GRPC_STATUS_H_
#define SERVICES_COMMON_RPC_GRPC_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace bimbackup::rpc {

// The same code and message; the codes are the same numbers by design.
inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(
      static_cast<grpc::StatusCode>(status.code()),
      std::string(status.message().data(), status.message().size()));
}

inline absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_GRPC_STATUS_H_
