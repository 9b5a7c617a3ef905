// How our programs reach each other's servers.

#ifndef SERVICES_COMMON_RPC_CHANNEL_H_
#define SERVICES_COMMON_RPC_CHANNEL_H_

#include <memory>
#include <string>
#include <utility>

#include "grpcpp/grpcpp.h"

namespace bimbackup::rpc {

// A server: where it is, and how it is spoken to. A value.
struct Target {
  Target() = default;
  // In plain text. Implicit, because that is what a bare address means.
  Target(std::string where)  // NOLINT(google-explicit-constructor)
      : address(std::move(where)) {}
  Target(std::string where, std::shared_ptr<grpc::ChannelCredentials> how)
      : address(std::move(where)), credentials(std::move(how)) {}

  // host:port or unix:/path.
  std::string address;
  // Plain text where there are none.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
};

// A channel to `target`. Our servers are near: the proxy for the way out
// (https_proxy) is never asked. Connects with the first call.
std::shared_ptr<grpc::Channel> Dial(const Target& target,
                                    grpc::ChannelArguments arguments = {});

}  // namespace bimbackup::rpc

#endif  // SERVICES_COMMON_RPC_CHANNEL_H_
