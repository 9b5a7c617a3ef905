#include "services/common/rpc/channel.h"

namespace bimbackup::rpc {

std::shared_ptr<grpc::Channel> Dial(const Target& target,
                                    grpc::ChannelArguments arguments) {
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target.address,
                                   target.credentials == nullptr
                                       ? grpc::InsecureChannelCredentials()
                                       : target.credentials,
                                   arguments);
}

}  // namespace bimbackup::rpc
