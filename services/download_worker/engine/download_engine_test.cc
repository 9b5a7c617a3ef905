#include "services/download_worker/engine/download_engine.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::engine {
namespace {

constexpr int64_t kLarge = 200'000;
// So large that it is digested while it arrives.
constexpr int64_t kDigestedEarly = 3'000'000;

class DownloadEngineTest : public EngineFixture {
 protected:
  // Whole files by one request each.
  static EngineOptions WithoutParts() {
    EngineOptions options = QuickOptions();
    options.parts.split_from = 2 * kDigestedEarly;
    return options;
  }

  // Answers the first `times` requests whose Range is `range`, none if empty.
  void Inject(absl::string_view range, int status, const std::string& body,
              int times) {
    http::FakeTransport::Answer answer;
    answer.response.status = status;
    answer.response.body = body;
    origin_.transport().AddRule(
        [range = std::string(range)](const http::Request& request) {
          return http::FindHeader(request.headers, "Range").value_or("") ==
                 range;
        },
        std::move(answer), times);
  }
};

TEST_F(DownloadEngineTest, StoresASmallFileWithOneRequest) {
  const std::string bytes = AperiodicBytes(1000, 1);
  const TransferTask task = Put(1, "small", bytes);
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 1);
  EXPECT_EQ(report.bytes_received, 1000);
  EXPECT_EQ(report.http_status, 200);
  EXPECT_EQ(engine_->totals().stored, 1);
}

TEST_F(DownloadEngineTest, SendsTheUrlByteForByteAndNoAuthorization) {
  const TransferTask task = Put(1, "small", "abc");
  StartEngine();
  ExpectStored(Run(task), "abc");
  const http::Request request = origin_.transport().Requests().at(0);
  EXPECT_EQ(request.url, task.source.ranges[0].url);
  EXPECT_FALSE(http::FindHeader(request.headers, "Authorization"));
  EXPECT_FALSE(http::FindHeader(request.headers, "Range"));
}

TEST_F(DownloadEngineTest, StoresAnEmptyFile) {
  const TransferTask task = Put(1, "empty", "");
  StartEngine();
  ExpectStored(Run(task), "");
}

TEST_F(DownloadEngineTest, TakesAnUnknownSizeFromTheAnswer) {
  const std::string bytes = AperiodicBytes(kLarge, 2);
  TransferTask task = Put(1, "file", bytes);
  task.source.size.reset();
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 1);
}

TEST_F(DownloadEngineTest, FetchesALargeFileInParts) {
  const std::string bytes = AperiodicBytes(kLarge, 3);
  const TransferTask task = Put(1, "large", bytes);
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 13);
  EXPECT_EQ(report.bytes_received, kLarge);
  const std::vector<http::Request> requests = origin_.transport().Requests();
  EXPECT_EQ(http::FindHeader(requests[0].headers, "Range"), "bytes=0-16383");
  EXPECT_FALSE(http::FindHeader(requests[0].headers, "If-Match"));
  for (size_t i = 1; i < requests.size(); ++i) {
    EXPECT_EQ(http::FindHeader(requests[i].headers, "If-Match"), "\"e1\"");
  }
}

TEST_F(DownloadEngineTest, FetchesChunksFromTheirUrls) {
  const std::string bytes = AperiodicBytes(3000, 4);
  TransferTask task = Put(1, "whole", bytes);
  origin_.PutObject("c0", bytes.substr(0, 1000));
  origin_.PutObject("c1", bytes.substr(1000, 1500));
  origin_.PutObject("c2", bytes.substr(2500));
  task.source.ranges = {{0, 999, FakeOrigin::Url("c0")},
                        {1000, 2499, FakeOrigin::Url("c1")},
                        {2500, 2999, FakeOrigin::Url("c2")}};
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 3);
}

TEST_F(DownloadEngineTest, StoresManyFilesOfAllSizes) {
  std::vector<std::string> contents;
  std::vector<TransferTask> tasks;
  for (int i = 0; i < 60; ++i) {
    contents.push_back(AperiodicBytes(i % 7 == 0 ? 90'000 + i : i * 31, i));
    tasks.push_back(Put(i + 1, absl::StrCat("file", i), contents.back()));
  }
  StartEngine();
  std::vector<uint64_t> handles;
  for (const TransferTask& task : tasks) handles.push_back(Submit(task));
  for (size_t i = 0; i < handles.size(); ++i) {
    ExpectStored(Wait(handles[i]), contents[i]);
  }
  EXPECT_TRUE(Eventually([&] { return engine_->held() == 0; }));
}

TEST_F(DownloadEngineTest, DigestsAFileWhileItArrives) {
  const std::string bytes = AperiodicBytes(kDigestedEarly, 5);
  const TransferTask task = Put(1, "file", bytes);
  StartEngine(WithoutParts());
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 1);
}

TEST_F(DownloadEngineTest, DigestsAFileOfUnknownSizeWhileItArrives) {
  const std::string bytes = AperiodicBytes(kDigestedEarly, 6);
  TransferTask task = Put(1, "file", bytes);
  task.source.size.reset();
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(DownloadEngineTest, DigestsInOrderThoughAnEarlyPartComesLate) {
  const std::string bytes = AperiodicBytes(kDigestedEarly, 7);
  const TransferTask task = Put(1, "file", bytes);
  Inject("bytes=16384-32767", 503, "", 3);
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(DownloadEngineTest, DigestsAnewWhatItFetchesAgainFromZero) {
  const std::string bytes = AperiodicBytes(kDigestedEarly, 8);
  const TransferTask task = Put(1, "file", bytes);
  std::string corrupt = bytes;
  corrupt[kDigestedEarly / 3] ^= 1;
  Inject("", 200, corrupt, 1);
  StartEngine(WithoutParts());
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.requests, 2);
}

TEST_F(DownloadEngineTest, StoresNothingOfAFileThatIsCorruptTwice) {
  const std::string bytes = AperiodicBytes(kDigestedEarly, 9);
  const TransferTask task = Put(1, "file", bytes);
  std::string corrupt = bytes;
  corrupt[kDigestedEarly / 3] ^= 1;
  Inject("", 200, corrupt, 2);
  StartEngine(WithoutParts());
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kCorrupt);
  EXPECT_THAT(report.message, testing::HasSubstr("SHA-1"));
  EXPECT_THAT(storage_.GetBlobSize(Sha256Hex(corrupt)),
              absl_testing::StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(DownloadEngineTest, RefusesAHostThatIsNotAllowed) {
  TransferTask task = Put(1, "file", "abc");
  task.source.ranges[0].url = "https://example.com/x?signature=secret";
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kInvalid);
  EXPECT_THAT(report.message, testing::HasSubstr("example.com"));
  EXPECT_THAT(report.message, testing::Not(testing::HasSubstr("secret")));
  EXPECT_EQ(report.requests, 0);
}

}  // namespace
}  // namespace bimbackup::engine
