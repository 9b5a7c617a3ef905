// What every HttpTransport does: the suite that all implementations pass.

#ifndef CLIENTS_HTTP_TRANSPORT_CONTRACT_H_
#define CLIENTS_HTTP_TRANSPORT_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>

#include "clients/http/http_transport.h"
#include "gtest/gtest.h"

namespace bimbackup::http {

// A transport in front of something that answers
//   /hello     200, header "X-Greeting: hi", body "hello, world"
//   /missing   404, body "nothing here"
//   /empty     200, no body
//   /hang      nothing, for ever
//   /echo      200, the request's body
class TransportContractSetup {
 public:
  virtual ~TransportContractSetup() = default;
  virtual HttpTransport& transport() = 0;
  // Destroys the transport.
  virtual void DestroyTransport() = 0;
  // Without a trailing slash.
  virtual std::string base_url() = 0;
};

struct TransportContractParam {
  std::string name;
  std::function<std::unique_ptr<TransportContractSetup>()> make;
};

class TransportContract
    : public testing::TestWithParam<TransportContractParam> {
 protected:
  TransportContract() : setup_(GetParam().make()) {}

  Request Get(const std::string& path) {
    Request request;
    request.url = setup_->base_url() + path;
    return request;
  }

  std::unique_ptr<TransportContractSetup> setup_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_TRANSPORT_CONTRACT_H_
