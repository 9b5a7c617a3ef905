// Status across the gRPC boundary.

#ifndef SERVICES_COMMON_RPC_GRPC_STATUS_H_
#define SERVICES_COMMON_RPC_GRPC_STATUS_H_

#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"
#include "services/common/excerpt.h"

namespace bimbackup::rpc {

// A message travels in a header of 8 KiB, in which each byte may take three.
inline constexpr size_t kMaxMessageBytes = 2000;

// The same code; the codes are the same numbers by design. The message in one
// line, and cut where it is long.
inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      Excerpt(status.message(), kMaxMessageBytes));
}

inline absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_GRPC_STATUS_H_
