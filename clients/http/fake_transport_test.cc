#include "clients/http/fake_transport.h"

#include "absl/strings/match.h"
#include "clients/http/transport_contract.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;

class FakeSetup : public TransportContractSetup {
 public:
  FakeSetup() : transport_(std::make_unique<FakeTransport>()) {
    FakeTransport::Answer hello;
    hello.response = {200, {{"X-Greeting", "hi"}}, "hello, world"};
    transport_->AddRule(Path("/hello"), hello);
    FakeTransport::Answer hang;
    hang.hang = true;
    transport_->AddRule(Path("/hang"), hang);
    transport_->AddRule(Path("/echo"), [](const Request& request) {
      FakeTransport::Answer echo;
      echo.response = {200, {}, request.body};
      return echo;
    });
    transport_->AddRule("/missing", 404, "nothing here");
    transport_->AddRule("/empty", 200, "");
  }

  HttpTransport& transport() override { return *transport_; }
  void DestroyTransport() override { transport_.reset(); }
  std::string base_url() override { return "https://fake.invalid"; }

 private:
  static FakeTransport::Matcher Path(std::string path) {
    return [path](const Request& r) { return absl::EndsWith(r.url, path); };
  }

  std::unique_ptr<FakeTransport> transport_;
};

INSTANTIATE_TEST_SUITE_P(Fake, TransportContract,
                         testing::Values(TransportContractParam{
                             "fake",
                             [] { return std::make_unique<FakeSetup>(); }}),
                         [](const auto& info) { return info.param.name; });

TEST(FakeTransportTest, UsesUpRulesInOrder) {
  FakeTransport transport;
  transport.AddRule("/a", 503, "", 1);
  transport.AddRule("/a", 200, "done");
  Request request;
  request.url = "https://fake.invalid/a";
  EXPECT_EQ(Fetch(transport, request, 100)->status, 503);
  EXPECT_EQ(Fetch(transport, request, 100)->status, 200);
  EXPECT_EQ(transport.CountRequests("/a"), 2);
  request.url = "https://fake.invalid/b";
  EXPECT_THAT(Fetch(transport, request, 100),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace bimbackup::http
