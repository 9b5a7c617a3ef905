#include "services/common/rpc/roles.h"

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bimbackup/v1/coordinator_service.pb.h"
#include "bimbackup/v1/download_worker_service.pb.h"
#include "bimbackup/v1/file_scan_service.pb.h"
#include "bimbackup/v1/worker_pool_service.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "grpc/health/v1/health.pb.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"

namespace bimbackup::rpc {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::ServiceDescriptor;
using testing::HasSubstr;

// The other end of a connection whose certificate says what a test wants.
class FakePeer : public grpc::AuthContext {
 public:
  explicit FakePeer(std::vector<std::string> uris) : uris_(std::move(uris)) {}

  bool IsPeerAuthenticated() const override { return true; }
  std::vector<grpc::string_ref> GetPeerIdentity() const override { return {}; }
  std::string GetPeerIdentityPropertyName() const override { return ""; }
  std::vector<grpc::string_ref> FindPropertyValues(
      const std::string& name) const override {
    if (name == "x509_subject") return {"CN=some\none,O=bimbackup"};
    if (name != "peer_uri") return {};
    return {uris_.begin(), uris_.end()};
  }
  grpc::AuthPropertyIterator begin() const override { std::abort(); }
  grpc::AuthPropertyIterator end() const override { std::abort(); }
  void AddProperty(const std::string&, const grpc::string_ref&) override {}
  bool SetPeerIdentityPropertyName(const std::string&) override {
    return false;
  }

 private:
  const std::vector<std::string> uris_;
};

// Every service that the protos of this project declare.
std::vector<const ServiceDescriptor*> AllServices() {
  // Links the files.
  const std::vector<const FileDescriptor*> files = {
      v1::StartBackupResponse::descriptor()->file(),
      v1::SynchronizeRequest::descriptor()->file(),
      v1::DownloadRequest::descriptor()->file(),
      v1::ScanRequest::descriptor()->file(),
      grpc::health::v1::HealthCheckRequest::descriptor()->file()};
  std::vector<const ServiceDescriptor*> services;
  for (const FileDescriptor* file : files) {
    for (int i = 0; i < file->service_count(); ++i) {
      services.push_back(file->service(i));
    }
  }
  return services;
}

std::string PathOf(const google::protobuf::MethodDescriptor& method) {
  return absl::StrCat("/", method.service()->full_name(), "/", method.name());
}

std::string Coordinator(absl::string_view method) {
  return absl::StrCat("/bimbackup.v1.CoordinatorService/", method);
}

TEST(RolesTest, EveryMethodOfTheProtosIsForSomebody) {
  const auto services = AllServices();
  EXPECT_EQ(services.size(), 5);
  for (const ServiceDescriptor* service : services) {
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string path = PathOf(*service->method(i));
      EXPECT_TRUE(MayCall(Role::kOperator, path) ||
                  MayCall(Role::kWorker, path))
          << path << " stands in no table of roles.cc";
    }
  }
}

TEST(RolesTest, WorkersCallTheWorkerPoolAloneAndNobodyElseDoes) {
  for (const ServiceDescriptor* service : AllServices()) {
    if (service->full_name() == "grpc.health.v1.Health") continue;
    const bool pool = service->full_name() == "bimbackup.v1.WorkerPoolService";
    for (int i = 0; i < service->method_count(); ++i) {
      const std::string path = PathOf(*service->method(i));
      EXPECT_EQ(MayCall(Role::kWorker, path), pool) << path;
      EXPECT_EQ(MayCall(Role::kOperator, path), !pool) << path;
      EXPECT_FALSE(MayCall(Role::kNone, path)) << path;
      EXPECT_FALSE(pool && MayCall(Role::kReader, path)) << path;
    }
  }
}

TEST(RolesTest, ReadersChangeNothing) {
  for (const char* method :
       {"GetBackup", "ListBackups", "WatchBackup", "ListTransfers",
        "ListSnapshots", "ListFiles", "ListWorkers", "RestoreSnapshot",
        "ReadBlob", "DiffSnapshots"}) {
    EXPECT_TRUE(MayCall(Role::kReader, Coordinator(method))) << method;
  }
  for (const char* method :
       {"StartBackup", "CancelBackup", "DrainWorker", "AcceptChanges",
        "VerifySnapshot", "ForgetSnapshots", "ProtectSnapshot",
        "RebuildLatestView", "UpdateLimits"}) {
    EXPECT_FALSE(MayCall(Role::kReader, Coordinator(method))) << method;
  }
  EXPECT_TRUE(MayCall(Role::kReader, "/bimbackup.v1.FileScanService/Scan"));
  EXPECT_FALSE(
      MayCall(Role::kReader, "/bimbackup.v1.DownloadWorkerService/Download"));
}

TEST(RolesTest, WhatNoTableNamesIsForNobody) {
  for (const char* path :
       {"", "/", "StartBackup", "/bimbackup.v1.CoordinatorService",
        "/bimbackup.v1.CoordinatorService/", "/x/StartBackup",
        "/bimbackup.v1.CoordinatorService/StartBackup/",
        "/bimbackup.v1.CoordinatorService/startbackup",
        "//bimbackup.v1.CoordinatorService/StartBackup",
        "/bimbackup.v2.CoordinatorService/StartBackup"}) {
    for (const Role role :
         {Role::kNone, Role::kWorker, Role::kReader, Role::kOperator}) {
      EXPECT_FALSE(MayCall(role, path)) << path;
    }
  }
}

TEST(RolesTest, HealthAndReflectionAreForEveryCertificate) {
  for (const char* path :
       {"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    EXPECT_TRUE(MayCall(Role::kNone, path)) << path;
    EXPECT_TRUE(MayCall(Role::kWorker, path)) << path;
  }
}

TEST(RolesTest, TheRoleIsTheOneNameOfItsKind) {
  const auto role_of = [](std::vector<std::string> uris) {
    return RoleOf(FakePeer(std::move(uris)));
  };
  EXPECT_EQ(role_of({"bimbackup://role/worker"}), Role::kWorker);
  EXPECT_EQ(role_of({"spiffe://x/y", "bimbackup://role/reader"}),
            Role::kReader);
  EXPECT_EQ(role_of({"bimbackup://role/operator"}), Role::kOperator);
  EXPECT_EQ(role_of({}), Role::kNone);
  EXPECT_EQ(role_of({"bimbackup://role/no role"}), Role::kNone);
  EXPECT_EQ(role_of({"bimbackup://role/operator/"}), Role::kNone);
  EXPECT_EQ(role_of({"https://bimbackup://role/operator"}), Role::kNone);
  EXPECT_EQ(role_of({"bimbackup://role/worker", "bimbackup://role/operator"}),
            Role::kNone);
}

// Reads what the process logs, for as long as it lives.
class LogCapture {
 public:
  LogCapture() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~LogCapture() { spdlog::set_default_logger(before_); }

  std::string Take() {
    std::string taken = text_.str();
    text_.str("");
    return taken;
  }

 private:
  std::ostringstream text_;
  const std::shared_ptr<spdlog::logger> before_;
};

TEST(RoleGateTest, SaysWhoMayNotCallWhatAndLogsOncePerSecond) {
  FakeClock clock;
  RoleGate gate(clock);
  LogCapture log;
  FakePeer worker({"bimbackup://role/worker"});
  const std::string path = Coordinator("ForgetSnapshots");
  const grpc::AuthMetadataProcessor::InputMetadata call = {{":path", path}};
  const grpc::Status refused = gate.Process(call, &worker, nullptr, nullptr);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused.error_message(),
            "the certificate CN=some\\none,O=bimbackup (worker) may not call "
            "/bimbackup.v1.CoordinatorService/ForgetSnapshots");
  EXPECT_THAT(log.Take(), HasSubstr(refused.error_message()));
  for (int i = 0; i < 3; ++i) gate.Process(call, &worker, nullptr, nullptr);
  EXPECT_EQ(log.Take(), "");
  clock.Advance(absl::Seconds(2));
  gate.Process(call, &worker, nullptr, nullptr);
  EXPECT_THAT(log.Take(), HasSubstr("3 more before it"));
}

TEST(RoleGateTest, LetsThroughWhatTheRoleAllows) {
  FakeClock clock;
  RoleGate gate(clock);
  FakePeer reader({"bimbackup://role/reader"});
  const std::string path = Coordinator("ListSnapshots");
  EXPECT_TRUE(gate.Process({{":path", path}}, &reader, nullptr, nullptr).ok());
  EXPECT_FALSE(gate.Process({}, &reader, nullptr, nullptr).ok());
}

}  // namespace
}  // namespace bimbackup::rpc
