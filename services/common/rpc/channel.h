// How our programs reach each other's servers.

#ifndef SERVICES_COMMON_RPC_CHANNEL_H_
#define SERVICES_COMMON_RPC_CHANNEL_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"

namespace bimbackup::rpc {

// A channel in plain text to `address`, host:port or unix:/path. Our servers
// are near: the proxy for the way out (https_proxy) is never asked. Connects
// with the first call.
std::shared_ptr<grpc::Channel> Dial(absl::string_view address,
                                    grpc::ChannelArguments arguments = {});

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_CHANNEL_H_
