// What CoordinatorService answers, beside whole backups.

#include <string>

#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "tests/integration/one_process.h"

namespace bimbackup::integration {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CallsTest : public testing::Test {
 protected:
  static ProcessOptions Small() {
    ProcessOptions options;
    options.emulator.account =
        "custom:projects=2,folders=10,files=30,bytes=30000";
    return options;
  }

  // Calls a unary method; its status code.
  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, const Request& request, Response& response) {
    const auto context = Context();
    return (process_.stub().*method)(context.get(), request, &response);
  }

  OneProcess process_{Small()};
};

using Stub = v1::CoordinatorService::Stub;

TEST_F(CallsTest, SaysWhatDoesNotExist) {
  v1::GetBackupRequest get;
  v1::GetBackupResponse got;
  get.set_name("backups/-");
  EXPECT_EQ(Call(&Stub::GetBackup, get, got).error_code(),
            grpc::StatusCode::NOT_FOUND);
  get.set_name("backups/20260101T000000Z-00000000");
  EXPECT_EQ(Call(&Stub::GetBackup, get, got).error_code(),
            grpc::StatusCode::NOT_FOUND);
  get.set_name("snapshots/1");
  EXPECT_EQ(Call(&Stub::GetBackup, get, got).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::ListFilesRequest files;
  v1::ListFilesResponse listed;
  files.set_parent("snapshots/-");
  EXPECT_EQ(Call(&Stub::ListFiles, files, listed).error_code(),
            grpc::StatusCode::NOT_FOUND);
  v1::DrainWorkerRequest drain;
  drain.set_worker_id("nobody");
  v1::DrainWorkerResponse drained;
  EXPECT_EQ(Call(&Stub::DrainWorker, drain, drained).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(CallsTest, WatchOfAnUnknownBackupEnds) {
  const auto context = Context();
  v1::WatchBackupRequest request;
  request.set_name("backups/nothing");
  const auto reader = process_.stub().WatchBackup(context.get(), request);
  v1::WatchBackupResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(CallsTest, RepeatedRequestIdReturnsTheSameBackup) {
  v1::StartBackupRequest request;
  request.set_request_id("once");
  const v1::Backup first = process_.Start(request);
  EXPECT_EQ(process_.Start(request).name(), first.name());
  v1::StartBackupResponse response;
  const grpc::Status second =
      Call(&Stub::StartBackup, v1::StartBackupRequest(), response);
  EXPECT_EQ(second.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(second.error_message(),
              HasSubstr(first.name().substr(first.name().find('/') + 1)));
}

TEST_F(CallsTest, RefusesAMalformedGlob) {
  v1::StartBackupRequest request;
  request.mutable_filter()->add_include("a/[");
  v1::StartBackupResponse response;
  EXPECT_EQ(Call(&Stub::StartBackup, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(CallsTest, PagesHoldEveryEntryOnce) {
  process_.AddWorker();
  ASSERT_EQ(process_.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  const auto whole = process_.ListFiles("snapshots/-");
  const auto paged = process_.ListFiles("snapshots/-", 7);
  EXPECT_GT(whole.size(), 40);
  EXPECT_EQ(paged.size(), whole.size());

  v1::ListTransfersRequest request;
  request.set_parent("backups/-");
  request.set_page_size(11);
  int transfers = 0;
  do {
    v1::ListTransfersResponse response;
    ASSERT_TRUE(Call(&Stub::ListTransfers, request, response).ok());
    transfers += response.transfers_size();
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(transfers, 30);
}

TEST_F(CallsTest, RefusesATokenOfAnotherRequest) {
  process_.AddWorker();
  ASSERT_EQ(process_.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  v1::ListFilesRequest request;
  request.set_parent("snapshots/-");
  request.set_page_size(3);
  v1::ListFilesResponse response;
  ASSERT_TRUE(Call(&Stub::ListFiles, request, response).ok());
  ASSERT_NE(response.next_page_token(), "");
  request.set_page_token(response.next_page_token());
  request.set_glob("**/*.pdf");
  EXPECT_EQ(Call(&Stub::ListFiles, request, response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::ListBackupsRequest backups;
  backups.set_page_token(request.page_token());
  v1::ListBackupsResponse listed;
  EXPECT_EQ(Call(&Stub::ListBackups, backups, listed).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(CallsTest, GlobsSelectEntries) {
  process_.AddWorker();
  ASSERT_EQ(process_.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  v1::ListFilesRequest request;
  request.set_parent("snapshots/-");
  request.set_glob("**/*.pdf");
  request.set_page_size(1000);
  v1::ListFilesResponse response;
  ASSERT_TRUE(Call(&Stub::ListFiles, request, response).ok());
  int wanted = 0;
  for (const auto& [key, entry] : process_.ListFiles()) {
    wanted += key.size() > 4 && key.substr(key.size() - 4) == ".pdf";
  }
  EXPECT_EQ(response.files_size(), wanted);
}

TEST_F(CallsTest, BackupsAreListedNewestFirst) {
  process_.AddWorker();
  for (int i = 0; i < 3; ++i) process_.RunBackup();
  v1::ListBackupsRequest request;
  request.set_page_size(2);
  v1::ListBackupsResponse first;
  ASSERT_TRUE(Call(&Stub::ListBackups, request, first).ok());
  ASSERT_THAT(first.backups(), SizeIs(2));
  EXPECT_GT(first.backups(0).name(), first.backups(1).name());
  request.set_page_token(first.next_page_token());
  v1::ListBackupsResponse second;
  ASSERT_TRUE(Call(&Stub::ListBackups, request, second).ok());
  EXPECT_THAT(second.backups(), SizeIs(1));
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(CallsTest, HttpSideShowsHealthMetricsAndStatus) {
  process_.AddWorker();
  ASSERT_EQ(process_.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  httplib::Client client("http://" + process_.coordinator().http_address());
  const auto health = client.Get("/healthz");
  ASSERT_TRUE(health);
  EXPECT_EQ(health->status, 200);
  const auto metrics = client.Get("/metrics");
  ASSERT_TRUE(metrics);
  // Each of 30 files, and the batch that was tried and refused.
  EXPECT_THAT(metrics->body,
              HasSubstr("bimbackup_api_calls_total{class=\"storage\"} 31"));
  EXPECT_THAT(metrics->body,
              HasSubstr("bimbackup_backup_state{state=\"SUCCEEDED\"} 1"));
  const auto status = client.Get("/");
  ASSERT_TRUE(status);
  EXPECT_THAT(status->body, HasSubstr("SUCCEEDED"));
}

TEST_F(CallsTest, DrainsAWorker) {
  process_.AddWorker();
  ASSERT_EQ(process_.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(Call(&Stub::ListWorkers, v1::ListWorkersRequest(), workers).ok());
  ASSERT_THAT(workers.workers(), SizeIs(1));
  v1::DrainWorkerRequest request;
  request.set_worker_id(workers.workers(0).worker_id());
  v1::DrainWorkerResponse response;
  ASSERT_TRUE(Call(&Stub::DrainWorker, request, response).ok());
  EXPECT_TRUE(response.worker().draining());
}

}  // namespace
}  // namespace bimbackup::integration
