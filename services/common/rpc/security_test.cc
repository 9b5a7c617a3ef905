#include "services/common/rpc/security.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "bimbackup/v1/coordinator_service.grpc.pb.h"
#include "bimbackup/v1/worker_pool_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "gtest/gtest.h"
#include "services/common/rpc/channel.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/rpc/test_certificates.h"
#include "services/common/status_matchers.h"

namespace bimbackup::rpc {
namespace {

using absl_testing::StatusIs;
using grpc::StatusCode;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(20);

// Counts what reaches it. A watch goes on until the test lets it end.
class FakeCoordinator : public v1::CoordinatorService::Service {
 public:
  grpc::Status ForgetSnapshots(
      grpc::ServerContext*, const v1::ForgetSnapshotsRequest*,
      grpc::ServerWriter<v1::ForgetSnapshotsResponse>*) override {
    ++reached;
    return grpc::Status::OK;
  }
  grpc::Status ListSnapshots(grpc::ServerContext*,
                             const v1::ListSnapshotsRequest*,
                             v1::ListSnapshotsResponse*) override {
    ++reached;
    return grpc::Status::OK;
  }
  grpc::Status WatchBackup(
      grpc::ServerContext* context, const v1::WatchBackupRequest*,
      grpc::ServerWriter<v1::WatchBackupResponse>* out) override {
    ++reached;
    while (!end && !context->IsCancelled()) {
      out->Write(v1::WatchBackupResponse());
      std::this_thread::yield();
    }
    return grpc::Status::OK;
  }

  std::atomic<int> reached = 0;
  std::atomic<bool> end = false;
};

class FakePool : public v1::WorkerPoolService::Service {
 public:
  grpc::Status Synchronize(grpc::ServerContext*, const v1::SynchronizeRequest*,
                           v1::SynchronizeResponse*) override {
    return grpc::Status::OK;
  }
};

Security Load(const TlsFiles& files) {
  SecurityFlags flags;
  flags.tls = files;
  auto security = Security::Load(flags, absl::Seconds(1));
  EXPECT_OK(security);
  return *security;
}

void SetPatience(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
}

// A connection of its own, as another process would have it.
std::shared_ptr<grpc::Channel> DialAnew(const Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return Dial(target, std::move(arguments));
}

class SecurityTest : public testing::Test {
 protected:
  SecurityTest() {
    CertificateWish wish;
    wish.common_name = "coordinator";
    files_ = ca_.Issue(folder_ / "server", wish);
    security_ = Load(files_);
    auto server =
        GrpcServer::Start("127.0.0.1:0", {&coordinator_, &pool_}, security_);
    EXPECT_OK(server);
    server_ = *std::move(server);
  }
  ~SecurityTest() override { coordinator_.end = true; }

  std::shared_ptr<grpc::ChannelCredentials> ClientOf(TestCa& ca,
                                                     absl::string_view role) {
    CertificateWish wish;
    wish.common_name = std::string(role.data(), role.size());
    wish.alternative_names = RoleNames(role);
    return Load(ca.Issue(folder_ / role, wish)).ForClient();
  }

  grpc::Status List(std::shared_ptr<grpc::ChannelCredentials> credentials) {
    return ListOver(DialAnew({server_->address(), std::move(credentials)}));
  }
  static grpc::Status ListOver(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    SetPatience(context);
    v1::ListSnapshotsResponse response;
    return v1::CoordinatorService::NewStub(channel)->ListSnapshots(
        &context, v1::ListSnapshotsRequest(), &response);
  }

  grpc::Status Forget(std::shared_ptr<grpc::ChannelCredentials> credentials) {
    grpc::ClientContext context;
    SetPatience(context);
    const auto stub = v1::CoordinatorService::NewStub(
        DialAnew({server_->address(), std::move(credentials)}));
    const auto reader =
        stub->ForgetSnapshots(&context, v1::ForgetSnapshotsRequest());
    v1::ForgetSnapshotsResponse response;
    while (reader->Read(&response)) continue;
    return reader->Finish();
  }

  grpc::Status Check(std::shared_ptr<grpc::ChannelCredentials> credentials) {
    grpc::ClientContext context;
    SetPatience(context);
    grpc::health::v1::HealthCheckResponse response;
    return grpc::health::v1::Health::NewStub(
               DialAnew({server_->address(), std::move(credentials)}))
        ->Check(&context, grpc::health::v1::HealthCheckRequest(), &response);
  }

  grpc::Status Synchronize(
      std::shared_ptr<grpc::ChannelCredentials> credentials) {
    grpc::ClientContext context;
    SetPatience(context);
    v1::SynchronizeResponse response;
    return v1::WorkerPoolService::NewStub(
               DialAnew({server_->address(), std::move(credentials)}))
        ->Synchronize(&context, v1::SynchronizeRequest(), &response);
  }

  ScratchFolder folder_;
  TestCa ca_;
  TlsFiles files_;
  Security security_;
  FakeCoordinator coordinator_;
  FakePool pool_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(SecurityTest, EachRoleCallsWhatIsItsOwn) {
  const auto worker = ClientOf(ca_, "worker");
  EXPECT_TRUE(Synchronize(worker).ok());
  EXPECT_TRUE(Check(worker).ok());
  EXPECT_EQ(List(worker).error_code(), StatusCode::PERMISSION_DENIED);
  const auto reader = ClientOf(ca_, "reader");
  EXPECT_TRUE(List(reader).ok());
  EXPECT_EQ(Forget(reader).error_code(), StatusCode::PERMISSION_DENIED);
  const auto operator_ = ClientOf(ca_, "operator");
  EXPECT_TRUE(List(operator_).ok());
  EXPECT_TRUE(Forget(operator_).ok());
  EXPECT_EQ(Synchronize(operator_).error_code(), StatusCode::PERMISSION_DENIED);
  const auto other = ClientOf(ca_, "castle");
  EXPECT_TRUE(Check(other).ok());
  EXPECT_EQ(List(other).error_code(), StatusCode::PERMISSION_DENIED);
}

TEST_F(SecurityTest, WorkerThatWouldForgetSnapshotsIsRefusedByName) {
  const grpc::Status status = Forget(ClientOf(ca_, "worker"));
  EXPECT_EQ(status.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(),
              HasSubstr("CN=worker (worker) may not call "
                        "/bimbackup.v1.CoordinatorService/ForgetSnapshots"));
  EXPECT_EQ(coordinator_.reached, 0);
}

TEST_F(SecurityTest, ClientWithoutACertificateIsRefused) {
  EXPECT_EQ(List(grpc::InsecureChannelCredentials()).error_code(),
            StatusCode::UNAVAILABLE);
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files_.ca, 600));
  options.watch_root_certs();
  EXPECT_EQ(List(grpc::experimental::TlsCredentials(options)).error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(coordinator_.reached, 0);
}

TEST_F(SecurityTest, ClientOfAForeignCaIsRefused) {
  TestCa foreign;
  CertificateWish wish;
  wish.alternative_names = RoleNames("operator");
  TlsFiles files = foreign.Issue(folder_ / "foreign", wish);
  // It trusts the server, but not the other way round.
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.cert, files_.ca, 600));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  EXPECT_EQ(List(grpc::experimental::TlsCredentials(options)).error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(coordinator_.reached, 0);
}

TEST_F(SecurityTest, ExpiredClientIsRefused) {
  CertificateWish wish;
  wish.alternative_names = RoleNames("operator");
  wish.until = -absl::Minutes(1);
  const TlsFiles files = ca_.Issue(folder_ / "expired", wish);
  // Ours would not even start with it.
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.cert, files.ca, 600));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  EXPECT_EQ(List(grpc::experimental::TlsCredentials(options)).error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(coordinator_.reached, 0);
}

TEST_F(SecurityTest, ServerOfAForeignCaIsRefused) {
  TestCa foreign;
  const grpc::Status status = List(ClientOf(foreign, "operator"));
  EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(coordinator_.reached, 0);
}

TEST_F(SecurityTest, ServerMustHaveTheNameByWhichItIsCalled) {
  CertificateWish wish;
  wish.alternative_names = "DNS:elsewhere.example";
  ASSERT_OK_AND_ASSIGN(
      auto server,
      GrpcServer::Start("127.0.0.1:0", {&pool_},
                        Load(ca_.Issue(folder_ / "elsewhere", wish))));
  grpc::ClientContext context;
  SetPatience(context);
  v1::SynchronizeResponse response;
  const grpc::Status status =
      v1::WorkerPoolService::NewStub(
          DialAnew({server->address(), ClientOf(ca_, "worker")}))
          ->Synchronize(&context, v1::SynchronizeRequest(), &response);
  EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE);
}

// The common name of the certificate that the server shows to who connects.
std::string ServerName(const Target& target) {
  grpc::ClientContext context;
  SetPatience(context);
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(DialAnew(target))
          ->Check(&context, grpc::health::v1::HealthCheckRequest(), &response);
  if (!status.ok()) return status.error_message();
  const auto names =
      context.auth_context()->FindPropertyValues("x509_common_name");
  return names.empty() ? "" : std::string(names[0].data(), names[0].size());
}

TEST_F(SecurityTest, ReplacedCertificatesAreSeenAndNoCallIsLost) {
  const auto reader = ClientOf(ca_, "reader");
  const Target target(server_->address(), reader);
  const auto old_connection = DialAnew(target);
  const auto stub = v1::CoordinatorService::NewStub(old_connection);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 2 * kPatience);
  const auto watch = stub->WatchBackup(&context, v1::WatchBackupRequest());
  v1::WatchBackupResponse response;
  ASSERT_TRUE(watch->Read(&response));

  // Server and client, key and certificate.
  CertificateWish wish;
  wish.common_name = "replaced";
  ca_.Issue(folder_ / "server", wish);
  wish.common_name = "reader again";
  wish.alternative_names = RoleNames("reader");
  ca_.Issue(folder_ / "reader", wish);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string name;
  int calls = 0;
  while (name != "replaced") {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << name;
    name = ServerName(target);
    EXPECT_THAT(name, testing::AnyOf("coordinator", "replaced"));
    EXPECT_TRUE(ListOver(old_connection).ok());
    ASSERT_TRUE(watch->Read(&response));
    ++calls;
  }
  EXPECT_GT(calls, 1);
  coordinator_.end = true;
  while (watch->Read(&response)) continue;
  EXPECT_TRUE(watch->Finish().ok());
}

TEST(SecurityFlagsTest, HaveEnvironmentTwins) {
  setenv("BIMBACKUP_TLS_CERT", "/c", 1);
  setenv("BIMBACKUP_TLS_KEY", "/k", 1);
  setenv("BIMBACKUP_TLS_CA", "/a", 1);
  setenv("BIMBACKUP_INSECURE", "true", 1);
  CLI::App app;
  SecurityFlags flags;
  AddTlsFlags(app, flags);
  AddInsecureFlag(app, flags);
  app.parse("");
  for (const char* name : {"BIMBACKUP_TLS_CERT", "BIMBACKUP_TLS_KEY",
                           "BIMBACKUP_TLS_CA", "BIMBACKUP_INSECURE"}) {
    unsetenv(name);
  }
  EXPECT_EQ(flags.tls.cert, "/c");
  EXPECT_EQ(flags.tls.key, "/k");
  EXPECT_EQ(flags.tls.ca, "/a");
  EXPECT_TRUE(flags.insecure);
}

TEST(CheckListenTest, PlainTextStaysOnThisMachineUnlessSaidOtherwise) {
  const Security plain;
  for (const char* address :
       {"127.0.0.1:1", "127.5.5.5:1", "localhost:1", "[::1]:1",
        "[::ffff:127.0.0.1]:1", "unix:/run/bimbackup"}) {
    EXPECT_OK(plain.CheckListen("--listen", address)) << address;
  }
  for (const char* address :
       {"0.0.0.0:1", "[::]:1", ":1", "*:1", "192.0.2.1:1", "10.0.0.1:1",
        "[fe80::1]:1", "[::ffff:10.0.0.1]:1", "no-such-host.invalid:1",
        "ipv4:0.0.0.0:1", "dns:///0.0.0.0:1", "vsock:1:1"}) {
    EXPECT_THAT(
        plain.CheckListen("--http_listen", address),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 testing::AllOf(HasSubstr("--http_listen"), HasSubstr(address),
                                HasSubstr("--insecure"))))
        << address;
  }
  SecurityFlags flags;
  flags.insecure = true;
  ASSERT_OK_AND_ASSIGN(const Security insecure, Security::Load(flags));
  EXPECT_OK(insecure.CheckListen("--listen", "0.0.0.0:1"));
}

TEST(CheckListenTest, AServerDoesNotListenToOthersInPlainText) {
  EXPECT_THAT(
      GrpcServer::Start("0.0.0.0:0", {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--insecure")));
  TestCa ca;
  ScratchFolder folder;
  EXPECT_OK(GrpcServer::Start("0.0.0.0:0", {}, Load(ca.Issue(folder / "x"))));
}

}  // namespace
}  // namespace bimbackup::rpc
