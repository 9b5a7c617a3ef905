// The worker in one process with a fake coordinator and a real network stack.

#include "services/download_worker/server.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bimbackup/v1/download_worker_service.grpc.pb.h"
#include "clients/http/loopback_server.h"
#include "clients/storage/storage.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/common/clock.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"
#include "services/common/status_matchers.h"
#include "services/download_worker/fake_coordinator.h"

namespace bimbackup::download_worker {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;

// One folder for all tests, because making its fan-out takes seconds.
const std::string& SharedFolder() {
  struct Folder {
    Folder() {
      std::string pattern = absl::StrCat(testing::TempDir(), "/worker_XXXXXX");
      path = mkdtemp(pattern.data());
      storage::OpenOptions options;
      options.url = path;
      options.create = true;
      EXPECT_OK(storage::OpenStorage(options));
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
  };
  static const Folder folder;
  return folder.path;
}

const std::string& ObjectBytes(const std::string& name, int64_t size) {
  static Mutex& mutex = *new Mutex();
  static auto& objects =
      *new std::map<std::pair<std::string, int64_t>, std::string>();
  MutexLock lock(mutex);
  std::string& bytes = objects[{name, size}];
  if (!bytes.empty()) return bytes;
  for (int i = 0; static_cast<int64_t>(bytes.size()) < size; ++i) {
    absl::StrAppend(&bytes, name, ":", i, ",");
  }
  bytes.resize(size);
  return bytes;
}

std::string Sha1Hex(absl::string_view bytes) {
  Digest digest(DigestKind::kSha1);
  digest.Update(bytes);
  return digest.FinishHex();
}

// Serves "/<name>/<size>?..." with ranges; "/hang" never answers; a query
// "expired" gets 403.
void ServeObject(const http::LoopbackServer::Call& call,
                 http::LoopbackConnection& connection) {
  if (absl::StartsWith(call.target, "/hang")) {
    connection.WaitUntilClosed();
    return;
  }
  if (absl::StrContains(call.target, "expired")) {
    connection.Send(http::LoopbackServer::Answer(403, "<Code>Expired</Code>"));
    return;
  }
  const size_t slash = call.target.rfind('/');
  int64_t size = 0;
  const std::string digits =
      call.target.substr(slash + 1, call.target.find('?') - slash - 1);
  EXPECT_TRUE(absl::SimpleAtoi(digits, &size)) << call.target;
  const std::string& bytes =
      ObjectBytes(call.target.substr(1, slash - 1), size);
  const size_t range = call.head.find("Range: bytes=");
  if (range == call.head.npos) {
    connection.Send(
        http::LoopbackServer::Answer(200, bytes, "ETag: \"e\"\r\n"));
    return;
  }
  const int64_t first = std::atoll(call.head.c_str() + range + 13);
  const int64_t last =
      std::atoll(call.head.c_str() + call.head.find('-', range) + 1);
  connection.Send(http::LoopbackServer::Answer(
      206, bytes.substr(first, last - first + 1),
      absl::StrCat("ETag: \"e\"\r\nContent-Range: bytes ", first, "-", last,
                   "/", size, "\r\n")));
}

class ServerTest : public testing::Test {
 protected:
  Options WorkerOptions() {
    Options options;
    options.coordinator = coordinator_->address();
    options.listen = "127.0.0.1:0";
    options.storage = SharedFolder();
    options.drain_grace = absl::Seconds(10);
    return options;
  }

  void StartWorker() { StartWorker(WorkerOptions()); }
  void StartWorker(const Options& options) {
    auto server = DownloadWorkerServer::Start(options);
    ASSERT_OK(server);
    worker_ = *std::move(server);
    stub_ = v1::DownloadWorkerService::NewStub(grpc::CreateChannel(
        worker_->address(), grpc::InsecureChannelCredentials()));
  }

  v1::Transfer Transfer(int64_t id, const std::string& name, int64_t size,
                        absl::string_view query = "?signature=s") {
    v1::Transfer transfer;
    transfer.set_transfer_id(id);
    transfer.set_storage_urn(absl::StrCat(
        "urn:", testing::UnitTest::GetInstance()->current_test_info()->name(),
        ":", name));
    transfer.set_display_path(name);
    *transfer.mutable_source() = SourceOf(name, size, query);
    return transfer;
  }

  v1::DownloadSource SourceOf(const std::string& name, int64_t size,
                              absl::string_view query) {
    v1::DownloadSource source;
    v1::SignedRange& range = *source.add_ranges();
    range.set_last(size - 1);
    range.set_url(origin_.Url(absl::StrCat("/", name, "/", size, query)));
    source.set_size(size);
    source.set_sha1(Sha1Hex(ObjectBytes(name, size)));
    source.set_valid_seconds(3600);
    return source;
  }

  v1::GetStatusResponse Status() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    v1::GetStatusResponse response;
    EXPECT_TRUE(stub_->GetStatus(&context, {}, &response).ok());
    return response;
  }

  template <typename Condition>
  bool Eventually(Condition condition) {
    for (int i = 0; i < 3'000; ++i) {
      if (condition()) return true;
      clock_.Sleep(absl::Milliseconds(10));
    }
    return false;
  }

  SystemClock clock_;
  http::LoopbackServer origin_{&ServeObject};
  std::unique_ptr<FakeCoordinator> coordinator_ =
      std::make_unique<FakeCoordinator>();
  std::unique_ptr<DownloadWorkerServer> worker_;
  std::unique_ptr<v1::DownloadWorkerService::Stub> stub_;
};

TEST_F(ServerTest, StoresWhatItIsGrantedAndSaysSo) {
  for (int i = 1; i <= 100; ++i) {
    coordinator_->Add(Transfer(i, absl::StrCat("file", i), i * 100));
  }
  coordinator_->Add(Transfer(101, "large", 70 << 20));
  StartWorker();
  for (int i = 1; i <= 101; ++i) {
    const v1::TransferResult result = coordinator_->WaitForResult(i);
    const int64_t size = i <= 100 ? i * 100 : 70 << 20;
    const std::string name = i <= 100 ? absl::StrCat("file", i) : "large";
    ASSERT_EQ(result.outcome(), v1::TRANSFER_OUTCOME_STORED)
        << result.message();
    EXPECT_EQ(result.size(), size);
    EXPECT_EQ(result.sha256(), Sha256Hex(ObjectBytes(name, size)));
    EXPECT_GT(result.epoch(), 0);
  }
  EXPECT_EQ(Status().stored_count(), 101);
  EXPECT_TRUE(Status().connected());
}

TEST_F(ServerTest, ReportsALoneResultAtOnce) {
  StartWorker();
  ASSERT_TRUE(Eventually([&] { return coordinator_->calls() > 1; }));
  // The call that is held now is ended by the result.
  coordinator_->Add(Transfer(1, "file", 10));
  EXPECT_EQ(coordinator_->WaitForResult(1).outcome(),
            v1::TRANSFER_OUTCOME_STORED);
}

TEST_F(ServerTest, AsksForFreshUrls) {
  coordinator_->Add(Transfer(1, "file", 1000, "?expired"));
  coordinator_->SetFresh(1, SourceOf("file", 1000, "?fresh"));
  StartWorker();
  EXPECT_EQ(coordinator_->WaitForResult(1).outcome(),
            v1::TRANSFER_OUTCOME_STORED);
  EXPECT_EQ(coordinator_->resolves(), 1);
}

TEST_F(ServerTest, DropsARevokedLeaseWithoutAWord) {
  coordinator_->Add(Transfer(1, "hang", 1000));
  StartWorker();
  ASSERT_TRUE(Eventually([&] { return Status().running_size() == 1; }));
  coordinator_->Revoke(1);
  ASSERT_TRUE(Eventually([&] { return Status().running_size() == 0; }));
  coordinator_->Add(Transfer(2, "file", 10));
  EXPECT_EQ(coordinator_->WaitForResult(2).outcome(),
            v1::TRANSFER_OUTCOME_STORED);
  EXPECT_EQ(coordinator_->Results().size(), 1u);
}

TEST_F(ServerTest, ReleasesWhatADrainLeavesUnfinished) {
  Options options = WorkerOptions();
  options.max_transfers = 1;
  options.drain_grace = absl::Milliseconds(100);
  coordinator_->Add(Transfer(1, "hang", 1000));
  coordinator_->Add(Transfer(2, "queued", 1000));
  StartWorker(options);
  ASSERT_TRUE(
      Eventually([&] { return coordinator_->LastRequest().held_size() == 2; }));
  worker_->Drain();
  EXPECT_EQ(coordinator_->WaitForResult(2).outcome(),
            v1::TRANSFER_OUTCOME_RELEASED);
  EXPECT_EQ(coordinator_->WaitForResult(1).outcome(),
            v1::TRANSFER_OUTCOME_RELEASED);
  const auto ended = worker_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_OK(*ended);
  EXPECT_TRUE(coordinator_->LastRequest().draining());
  EXPECT_EQ(coordinator_->LastRequest().free_slots(), 0);
}

TEST_F(ServerTest, EndsWhenTheCoordinatorDrainsIt) {
  StartWorker();
  ASSERT_TRUE(Eventually([&] { return Status().connected(); }));
  coordinator_->DrainWorkers();
  const auto ended = worker_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_OK(*ended);
}

TEST_F(ServerTest, EndsWhenTheCoordinatorRefusesIt) {
  coordinator_->Refuse("this worker sees another storage");
  StartWorker();
  const auto ended = worker_->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.has_value());
  EXPECT_THAT(*ended, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("another storage")));
}

TEST_F(ServerTest, KeepsItsResultsUntilTheCoordinatorIsBack) {
  const std::string address = coordinator_->address();
  for (int i = 1; i <= 3; ++i) {
    coordinator_->Add(Transfer(i, absl::StrCat("file", i), 10 << 20));
  }
  StartWorker();
  ASSERT_TRUE(
      Eventually([&] { return coordinator_->LastRequest().held_size() > 0; }));
  coordinator_ = nullptr;
  ASSERT_TRUE(Eventually([&] { return Status().stored_count() == 3; }));
  EXPECT_FALSE(Status().connected());
  EXPECT_NE(Status().connection_error(), "");
  coordinator_ = std::make_unique<FakeCoordinator>(address);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(coordinator_->WaitForResult(i).outcome(),
              v1::TRANSFER_OUTCOME_STORED);
  }
}

TEST_F(ServerTest, DownloadsOneUrlAndStreamsItsEnd) {
  StartWorker();
  v1::DownloadRequest request;
  request.set_url(origin_.Url("/single/5000?signature=s"));
  request.set_sha256(Sha256Hex(ObjectBytes("single", 5000)));
  grpc::ClientContext context;
  const auto reader = stub_->Download(&context, request);
  v1::DownloadResponse response;
  v1::DownloadResponse last;
  while (reader->Read(&response)) last = response;
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(last.sha256(), request.sha256());
  EXPECT_EQ(last.bytes_done(), 5000);
}

TEST_F(ServerTest, RefusesADownloadFromAHostThatIsNotAllowed) {
  StartWorker();
  v1::DownloadRequest request;
  request.set_url("https://example.com/x?secret");
  grpc::ClientContext context;
  const auto reader = stub_->Download(&context, request);
  v1::DownloadResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), Not(HasSubstr("secret")));
}

TEST_F(ServerTest, RefusesADownloadWhoseUrlIsTooLong) {
  StartWorker();
  v1::DownloadRequest request;
  request.set_url(origin_.Url("/x?") + std::string(16 << 10, 's'));
  grpc::ClientContext context;
  const auto reader = stub_->Download(&context, request);
  v1::DownloadResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("url: 16"));
  EXPECT_THAT(status.error_message(), Not(HasSubstr("sss")));
}

TEST_F(ServerTest, EndsADownloadWhoseCallerGoes) {
  StartWorker();
  v1::DownloadRequest request;
  request.set_url(origin_.Url("/hang/1"));
  grpc::ClientContext context;
  const auto reader = stub_->Download(&context, request);
  ASSERT_TRUE(Eventually([&] { return Status().running_size() == 1; }));
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return Status().running_size() == 0; }));
}

TEST_F(ServerTest, RefusesAStorageWithoutMarkerAfterAWhile) {
  Options options = WorkerOptions();
  options.storage = absl::StrCat(SharedFolder(), "/tmp");
  options.storage_wait = absl::Milliseconds(300);
  EXPECT_THAT(DownloadWorkerServer::Start(options),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("bimbackup.json")));
}

TEST_F(ServerTest, RefusesAStorageOfANewerFormatAtOnce) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/newer");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/bimbackup.json")
      << "{\"format\":99,\"storage_id\":\"x\"}";
  Options options = WorkerOptions();
  options.storage = folder;
  options.storage_wait = absl::Hours(1);
  EXPECT_THAT(DownloadWorkerServer::Start(options),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  std::filesystem::remove_all(folder);
}

TEST_F(ServerTest, RefusesAnAddressThatIsTaken) {
  Options options = WorkerOptions();
  options.listen = coordinator_->address();
  EXPECT_THAT(DownloadWorkerServer::Start(options),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::download_worker
