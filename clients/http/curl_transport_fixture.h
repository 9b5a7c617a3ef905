// A CurlTransport in front of a scripted server, for its tests.

#ifndef CLIENTS_HTTP_CURL_TRANSPORT_FIXTURE_H_
#define CLIENTS_HTTP_CURL_TRANSPORT_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "clients/http/curl_transport.h"
#include "clients/http/loopback_server.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {

inline std::unique_ptr<CurlTransport> MakeTransport(
    const CurlTransportOptions& options = {}) {
  auto transport = CurlTransport::Create(options);
  EXPECT_OK(transport);
  return *std::move(transport);
}

class CurlTransportTest : public testing::Test {
 protected:
  void Serve(LoopbackServer::Handler handler) {
    server_ = std::make_unique<LoopbackServer>(std::move(handler));
  }

  // Every request gets these bytes, and then the end of the connection.
  void Say(std::string bytes, bool reset = false) {
    Serve([bytes, reset](const LoopbackServer::Call&,
                         LoopbackConnection& connection) {
      connection.Send(bytes);
      connection.Close(reset);
    });
  }

  Request Get(absl::string_view target = "/file?signature=secret") {
    Request request;
    request.url = server_->Url(target);
    return request;
  }

  absl::StatusOr<Response> FetchIt() {
    return Fetch(*transport_, Get(), 100 << 20);
  }

  std::unique_ptr<LoopbackServer> server_;
  std::unique_ptr<CurlTransport> transport_ = MakeTransport();
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_CURL_TRANSPORT_FIXTURE_H_
