#include "services/file_scan/rpc/file_scan_service.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "services/common/rpc/grpc_server.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/status_matchers.h"

namespace bimbackup::file_scan::rpc {
namespace {

namespace fs = std::filesystem;
using absl_testing::IsOk;
using absl_testing::StatusIs;
using bimbackup::rpc::FromGrpcStatus;
using bimbackup::rpc::GrpcServer;
using testing::HasSubstr;

// A server over a folder, and a client of it.
class FileScanServiceTest : public testing::Test {
 protected:
  FileScanServiceTest() {
    std::string pattern = (fs::temp_directory_path() / "scanXXXXXX").string();
    base_ = mkdtemp(pattern.data());
    fs::create_directories(base_ / "root");
    fs::create_directories(base_ / "scratch");
    ServiceOptions options;
    options.max_scans = 2;
    options.scratch = (base_ / "scratch").string();
    Serve(options);
  }
  ~FileScanServiceTest() override {
    server_->Shutdown(absl::ZeroDuration());
    fs::remove_all(base_);
  }

  void Serve(const ServiceOptions& options) {
    server_.reset();
    auto root = reader::RootFolder::Open((base_ / "root").string());
    ASSERT_OK(root);
    service_ = std::make_unique<FileScanServiceImpl>(*std::move(root), options,
                                                     clock_);
    auto server = GrpcServer::Start("127.0.0.1:0", {service_.get()});
    ASSERT_OK(server);
    server_ = *std::move(server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::FileScanService::NewStub(grpc::CreateCustomChannel(
        server_->address(), grpc::InsecureChannelCredentials(), arguments));
  }

  void Write(const char* name, absl::string_view content) {
    std::ofstream(base_ / "root" / name, std::ios::binary)
        .write(content.data(), content.size());
  }

  // A file that takes long to read, and no room on the disk.
  void WriteLarge(const char* name) {
    const int fd =
        open((base_ / "root" / name).c_str(), O_CREAT | O_WRONLY, 0600);
    ASSERT_EQ(ftruncate(fd, int64_t{64} << 30), 0);
    for (int64_t at = 0; at < 1 << 20; at += 100) {
      ASSERT_EQ(pwrite(fd, "\n", 1, at), 1);
    }
    close(fd);
  }

  static void Prepare(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
  }

  // All messages of a Scan.
  absl::Status Scan(const v1::ScanRequest& request,
                    std::vector<v1::ScanResponse>& responses) {
    grpc::ClientContext context;
    Prepare(context);
    auto stream = stub_->Scan(&context, request);
    while (stream->Read(&responses.emplace_back())) {
    }
    responses.pop_back();
    return FromGrpcStatus(stream->Finish());
  }

  absl::Status ReadLines(const v1::ReadLinesRequest& request,
                         std::vector<v1::ReadLinesResponse>& responses) {
    grpc::ClientContext context;
    Prepare(context);
    auto stream = stub_->ReadLines(&context, request);
    while (stream->Read(&responses.emplace_back())) {
    }
    responses.pop_back();
    return FromGrpcStatus(stream->Finish());
  }

  absl::Status Benchmark(const v1::BenchmarkRequest& request,
                         std::vector<v1::BenchmarkResponse>& responses) {
    grpc::ClientContext context;
    Prepare(context);
    auto stream = stub_->Benchmark(&context, request);
    while (stream->Read(&responses.emplace_back())) {
    }
    responses.pop_back();
    return FromGrpcStatus(stream->Finish());
  }

  absl::Status ScanStatus(const v1::ScanRequest& request) {
    std::vector<v1::ScanResponse> responses;
    return Scan(request, responses);
  }

  fs::path base_;
  SystemClock clock_;
  std::unique_ptr<FileScanServiceImpl> service_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<v1::FileScanService::Stub> stub_;
};

TEST_F(FileScanServiceTest, ScanCounts) {
  Write("a.txt", "one\ntwo\r\n\nlast");
  for (int strategy = 0; strategy < v1::LineReadStrategy_ARRAYSIZE;
       ++strategy) {
    v1::ScanRequest request;
    request.set_path("a.txt");
    request.mutable_options()->set_strategy(
        static_cast<v1::LineReadStrategy>(strategy));
    std::vector<v1::ScanResponse> responses;
    const absl::Status status = Scan(request, responses);
    // Where io_uring is blocked, as in containers.
    if (absl::IsUnavailable(status)) continue;
    ASSERT_OK(status);
    ASSERT_EQ(responses.size(), 1);
    const v1::ScanResponse& counts = responses[0];
    EXPECT_TRUE(counts.done());
    EXPECT_EQ(counts.lines(), 4);
    EXPECT_EQ(counts.bytes(), 14);
    EXPECT_EQ(counts.longest_line_bytes(), 4);
    EXPECT_TRUE(counts.unterminated());
    EXPECT_EQ(counts.file_bytes(), 14);
    EXPECT_GE(counts.reads(), 1);
    EXPECT_GT(counts.elapsed().nanos(), 0);
    EXPECT_GT(counts.cpu().nanos(), 0);
  }
}

TEST_F(FileScanServiceTest, ScanRefusesWithoutTellingWhatIsOutside) {
  fs::create_symlink("../secret", base_ / "root/link");
  v1::ScanRequest request;
  request.set_path("../secret");
  EXPECT_THAT(ScanStatus(request),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.set_path("link");
  const absl::Status missing = ScanStatus(request);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kPermissionDenied));
  std::ofstream(base_ / "secret") << "x";
  EXPECT_EQ(ScanStatus(request), missing);
  request.set_path("none");
  EXPECT_THAT(ScanStatus(request), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FileScanServiceTest, ScanNamesBadOptions) {
  Write("a.txt", "0123456789\n");
  v1::ScanRequest request;
  request.set_path("a.txt");
  request.mutable_options()->set_max_line_bytes(5);
  EXPECT_THAT(ScanStatus(request), StatusIs(absl::StatusCode::kOutOfRange,
                                            HasSubstr("byte offset 0")));
  request.mutable_options()->set_max_line_bytes(-1);
  EXPECT_THAT(ScanStatus(request),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.clear_options();
  request.mutable_options()->set_strategy(
      static_cast<v1::LineReadStrategy>(99));
  EXPECT_THAT(ScanStatus(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("strategy")));
  request.clear_options();
  request.set_start_offset(12);
  EXPECT_THAT(ScanStatus(request), StatusIs(absl::StatusCode::kOutOfRange));
  request.clear_start_offset();
  request.mutable_progress_interval()->set_nanos(1);
  EXPECT_THAT(ScanStatus(request),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(FileScanServiceTest, ScanNamesWhatIsTooLong) {
  v1::ScanRequest request;
  request.set_path(std::string(1 << 20, 'x'));
  EXPECT_THAT(ScanStatus(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("path: 1048576 bytes, over the limit")));
}

TEST_F(FileScanServiceTest, ScanReportsProgressAndEndsWithItsClient) {
  WriteLarge("large");
  v1::ScanRequest request;
  request.set_path("large");
  request.mutable_options()->set_max_line_bytes(1 << 30);
  request.mutable_options()->set_strategy(v1::LINE_READ_STRATEGY_BLOCKING);
  request.mutable_progress_interval()->set_nanos(10'000'000);
  grpc::ClientContext context;
  Prepare(context);
  auto stream = stub_->Scan(&context, request);
  v1::ScanResponse first;
  v1::ScanResponse second;
  ASSERT_TRUE(stream->Read(&first));
  ASSERT_TRUE(stream->Read(&second));
  EXPECT_FALSE(first.done());
  EXPECT_GT(second.bytes(), first.bytes());
  context.TryCancel();
  EXPECT_THAT(FromGrpcStatus(stream->Finish()),
              StatusIs(absl::StatusCode::kCancelled));
  // The server's slots are free again, or shutdown would hang.
  server_->Shutdown(absl::Seconds(20));
}

TEST_F(FileScanServiceTest, ReadLinesSendsAllBytesInBatches) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&text, "line ", i, "\r\n");
  text += "end";
  Write("a.txt", text);
  v1::ReadLinesRequest request;
  request.set_path("a.txt");
  request.set_batch_bytes(10'000);
  std::vector<v1::ReadLinesResponse> responses;
  ASSERT_OK(ReadLines(request, responses));
  std::string got;
  int lines = 0;
  for (const v1::ReadLinesResponse& response : responses) {
    EXPECT_EQ(response.offset(), got.size());
    got += response.lines();
    EXPECT_EQ(response.next_offset(), got.size());
    EXPECT_LE(response.lines().size(), 10'000);
    lines += response.line_lengths_size();
    size_t sum = 0;
    for (const uint32_t length : response.line_lengths()) sum += length;
    EXPECT_EQ(sum, response.lines().size());
    EXPECT_EQ(response.end(), &response == &responses.back());
  }
  EXPECT_TRUE(got == text);
  EXPECT_EQ(lines, 20'001);
  EXPECT_TRUE(responses.back().unterminated());
}

TEST_F(FileScanServiceTest, ReadLinesChoosesAndLimits) {
  Write("a.txt", "apple\nbanana\ncherry\nbandana\n");
  v1::ReadLinesRequest request;
  request.set_path("a.txt");
  request.set_contains("ana");
  std::vector<v1::ReadLinesResponse> responses;
  ASSERT_OK(ReadLines(request, responses));
  ASSERT_EQ(responses.size(), 1);
  EXPECT_EQ(responses[0].lines(), "banana\nbandana\n");
  EXPECT_THAT(responses[0].line_offsets(), testing::ElementsAre(6, 20));
  request.clear_contains();
  request.set_max_lines(1);
  request.set_start_offset(6);
  request.set_omit_line_lengths(true);
  responses.clear();
  ASSERT_OK(ReadLines(request, responses));
  ASSERT_EQ(responses.size(), 1);
  EXPECT_EQ(responses[0].lines(), "banana\n");
  EXPECT_EQ(responses[0].line_lengths_size(), 0);
  EXPECT_EQ(responses[0].next_offset(), 13);
}

TEST_F(FileScanServiceTest, ReadLinesOfAnEmptyFileIsOneMessage) {
  Write("empty", "");
  v1::ReadLinesRequest request;
  request.set_path("empty");
  std::vector<v1::ReadLinesResponse> responses;
  ASSERT_OK(ReadLines(request, responses));
  ASSERT_EQ(responses.size(), 1);
  EXPECT_TRUE(responses[0].end());
}

TEST_F(FileScanServiceTest, ReadLinesSendsOneLongLineWhole) {
  const std::string text(9 << 20, 'x');
  Write("long", text);
  v1::ReadLinesRequest request;
  request.set_path("long");
  std::vector<v1::ReadLinesResponse> responses;
  ASSERT_OK(ReadLines(request, responses));
  EXPECT_TRUE(responses[0].lines() == text);
}

TEST_F(FileScanServiceTest, ReadLinesNamesBadRequests) {
  Write("a.txt", "a\n");
  std::vector<v1::ReadLinesResponse> responses;
  v1::ReadLinesRequest request;
  request.set_path("a.txt");
  request.set_batch_bytes(5 << 20);
  EXPECT_THAT(ReadLines(request, responses),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.clear_batch_bytes();
  request.set_contains("a\n");
  EXPECT_THAT(ReadLines(request, responses),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.clear_contains();
  request.set_max_lines(-1);
  EXPECT_THAT(ReadLines(request, responses),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Two clients that read nothing hold both slots, and little memory.
TEST_F(FileScanServiceTest, SlowClientsHoldTheirSlotsUntilTheyGo) {
  WriteLarge("large");
  v1::ReadLinesRequest request;
  request.set_path("large");
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ReadLinesResponse>>>
      streams;
  for (int i = 0; i < 2; ++i) {
    Prepare(*contexts.emplace_back(std::make_unique<grpc::ClientContext>()));
    streams.push_back(stub_->ReadLines(contexts.back().get(), request));
    v1::ReadLinesResponse response;
    ASSERT_TRUE(streams.back()->Read(&response));
  }
  Write("a.txt", "a\n");
  v1::ScanRequest scan;
  scan.set_path("a.txt");
  EXPECT_THAT(ScanStatus(scan), StatusIs(absl::StatusCode::kResourceExhausted,
                                         HasSubstr("2 scans")));
  for (size_t i = 0; i < streams.size(); ++i) {
    contexts[i]->TryCancel();
    v1::ReadLinesResponse response;
    while (streams[i]->Read(&response)) {
    }
    (void)streams[i]->Finish();
  }
  // The server notices within its own time.
  absl::Status status = ScanStatus(scan);
  while (absl::IsResourceExhausted(status)) status = ScanStatus(scan);
  EXPECT_OK(status);
}

TEST_F(FileScanServiceTest, BenchmarkSendsARowEach) {
  v1::BenchmarkRequest request;
  request.mutable_corpus()->set_bytes(100'000);
  request.add_buffer_bytes(4096);
  request.add_works(v1::LINE_WORK_COUNT);
  request.add_works(v1::LINE_WORK_KEEP);
  request.set_repetitions(2);
  std::vector<v1::BenchmarkResponse> rows;
  ASSERT_OK(Benchmark(request, rows));
  ASSERT_EQ(rows.size(), 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].row(), i + 1);
    EXPECT_EQ(rows[i].rows(), 10);
    if (!rows[i].unavailable().empty()) continue;
    EXPECT_EQ(rows[i].bytes(), 100'000);
    EXPECT_GT(rows[i].mean().nanos(), 0);
    EXPECT_TRUE(rows[i].has_error());
    EXPECT_GT(rows[i].gigabytes_per_second(), 0);
  }
  EXPECT_EQ(rows[0].ratio(), 1);
  EXPECT_TRUE(fs::is_empty(base_ / "scratch"));
}

TEST_F(FileScanServiceTest, BenchmarkNamesBadRequests) {
  std::vector<v1::BenchmarkResponse> rows;
  v1::BenchmarkRequest request;
  request.set_path("none");
  EXPECT_THAT(Benchmark(request, rows), StatusIs(absl::StatusCode::kNotFound));
  request.mutable_corpus()->set_bytes(-1);
  EXPECT_THAT(Benchmark(request, rows),
              StatusIs(absl::StatusCode::kInvalidArgument));
  request.mutable_corpus()->set_bytes(10);
  request.set_repetitions(101);
  EXPECT_THAT(Benchmark(request, rows),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(FileScanServiceTest, BenchmarkNeedsScratchForACorpus) {
  Serve(ServiceOptions());
  std::vector<v1::BenchmarkResponse> rows;
  EXPECT_THAT(
      Benchmark(v1::BenchmarkRequest(), rows),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("--scratch")));
}

}  // namespace
}  // namespace bimbackup::file_scan::rpc
