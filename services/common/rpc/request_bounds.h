// What a request may hold: gRPC bounds a message as a whole, this each field.

#ifndef SERVICES_COMMON_RPC_REQUEST_BOUNDS_H_
#define SERVICES_COMMON_RPC_REQUEST_BOUNDS_H_

#include <cstddef>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace bimbackup::rpc {

struct RequestBounds {
  // Of each string or bytes field.
  size_t max_text_bytes = 4096;
  // Of each repeated field.
  int max_elements = 1000;
};

// INVALID_ARGUMENT, naming the field as it is written in the proto, when one
// of `request` or of the messages within it is over the bounds. To be called
// before anything is done about the request.
absl::Status CheckRequest(const google::protobuf::Message& request,
                          const RequestBounds& bounds = {});

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_REQUEST_BOUNDS_H_
