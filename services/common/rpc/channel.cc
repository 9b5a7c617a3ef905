#include "services/common/rpc/channel.h"

#include <string>

namespace bimbackup::rpc {

std::shared_ptr<grpc::Channel> Dial(absl::string_view address,
                                    grpc::ChannelArguments arguments) {
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(std::string(address.data(), address.size()),
                                   grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace bimbackup::rpc
