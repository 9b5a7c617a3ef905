// What a transfer does when its requests go wrong.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/download_worker/engine/engine_fixture.h"

namespace bimbackup::engine {
namespace {

using Answer = http::FakeTransport::Answer;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kLarge = 200'000;

Answer Status(int status, absl::string_view body = "",
              http::Headers headers = {}) {
  Answer answer;
  answer.response.status = status;
  answer.response.body = std::string(body);
  answer.response.headers = std::move(headers);
  return answer;
}

// An answer that breaks off with `error` after `body`.
Answer Broken(const absl::Status& error, absl::string_view body,
              int64_t length) {
  Answer answer =
      Status(200, body,
             {{"Content-Length", absl::StrCat(length)}, {"ETag", "\"e1\""}});
  answer.error = error;
  return answer;
}

class TransferFailureTest : public EngineFixture {
 protected:
  // Answers the first `times` requests that hold `part` in URL or Range.
  void Inject(absl::string_view part, Answer answer, int times = 1) {
    origin_.transport().AddRule(
        [part = std::string(part)](const http::Request& request) {
          const auto range = http::FindHeader(request.headers, "Range");
          return absl::StrContains(request.url, part) ||
                 (range.has_value() && absl::StrContains(*range, part));
        },
        std::move(answer), times);
  }
};

TEST_F(TransferFailureTest, RetriesServerErrors) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(500), 2);
  Inject("file", Status(503, "<Error><Code>SlowDown</Code></Error>"));
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, "content");
  EXPECT_EQ(report.requests, 4);
  EXPECT_TRUE(origin_.transport().Requests()[1].fresh_connection);
}

TEST_F(TransferFailureTest, GivesUpAfterFiveAttempts) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(503, "<Error><Code>SlowDown</Code></Error>"), -1);
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kRetryable);
  EXPECT_EQ(report.requests, 5);
  EXPECT_EQ(report.http_status, 503);
  EXPECT_THAT(report.message, HasSubstr("SlowDown"));
}

TEST_F(TransferFailureTest, HonoursRetryAfter) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(429, "", {{"Retry-After", "1"}}));
  StartEngine();
  const absl::Duration start = clock_.Monotonic();
  ExpectStored(Run(task), "content");
  EXPECT_GE(clock_.Monotonic() - start, absl::Seconds(1));
}

TEST_F(TransferFailureTest, GoesOnWhereAResetBrokeOff) {
  const std::string bytes = AperiodicBytes(1000, 1);
  const TransferTask task = Put(1, "file", bytes);
  Inject("file",
         Broken(absl::UnavailableError("reset"), bytes.substr(0, 600), 1000));
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, bytes);
  EXPECT_EQ(report.bytes_received, 1000);
  EXPECT_EQ(
      http::FindHeader(origin_.transport().Requests()[1].headers, "Range"),
      "bytes=600-999");
}

TEST_F(TransferFailureTest, CompletesAShortBody) {
  const std::string bytes = AperiodicBytes(1000, 2);
  const TransferTask task = Put(1, "file", bytes);
  Inject("file",
         Broken(absl::DataLossError("short"), bytes.substr(0, 10), 1000), 3);
  StartEngine();
  // The second and third short answers are whole ones to a range request.
  ExpectStored(Run(task), bytes);
}

TEST_F(TransferFailureTest, FetchesACorruptBodyOnceMoreFromZero) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(200, "cOntent"));
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, "content");
  EXPECT_EQ(report.requests, 2);
}

TEST_F(TransferFailureTest, IsCorruptWhenTheDigestIsWrongTwice) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(200, "cOntent"), -1);
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kCorrupt);
  EXPECT_EQ(report.requests, 2);
  EXPECT_THAT(report.message, HasSubstr("SHA-1"));
}

TEST_F(TransferFailureTest, IsCorruptWhenTheObjectIsShorterThanAnnounced) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(200, "cont", {{"Content-Length", "4"}}), -1);
  StartEngine();
  EXPECT_EQ(Run(task).outcome, Outcome::kCorrupt);
}

TEST_F(TransferFailureTest, SignsARefusedUrlAgainOnceForAllParts) {
  const std::string bytes = AperiodicBytes(kLarge, 3);
  const TransferTask task = Put(7, "large", bytes);
  Inject("bytes=16384-", Status(200), 0);
  origin_.transport().AddRule(
      [](const http::Request& request) {
        const auto range = http::FindHeader(request.headers, "Range");
        return absl::StrContains(request.url, "s1") && range.has_value() &&
               !absl::StartsWith(*range, "bytes=0-");
      },
      Status(403, "<Error><Code>AccessDenied</Code></Error>"));
  resolver_.Put(7, FakeOrigin::SourceOf("large", bytes, "s2"));
  StartEngine();
  ExpectStored(Run(task), bytes);
  EXPECT_EQ(resolver_.calls(), 1);
}

TEST_F(TransferFailureTest, IsRefusedWhenSigningAgainDoesNotHelp) {
  const TransferTask task = Put(7, "file", "content");
  Inject("file", Status(403), -1);
  resolver_.Put(7, task.source);
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kRefused);
  EXPECT_EQ(report.http_status, 403);
  EXPECT_EQ(resolver_.calls(), 1);
}

TEST_F(TransferFailureTest, SignsExpiringUrlsBeforeTheyAreUsed) {
  TransferTask task = Put(7, "file", "content");
  task.source.valid_until = clock_.Monotonic();
  resolver_.Put(7, FakeOrigin::SourceOf("file", "content", "s2"));
  StartEngine();
  const TransferReport report = Run(task);
  ExpectStored(report, "content");
  EXPECT_EQ(report.requests, 1);
  EXPECT_THAT(origin_.transport().Requests()[0].url, HasSubstr("s2"));
}

TEST_F(TransferFailureTest, IsReleasedWhenItsLeaseTurnsOutToBeLost) {
  TransferTask task = Put(7, "file", "content");
  task.source.valid_until = clock_.Monotonic();
  resolver_.Put(7, absl::FailedPreconditionError("lost"));
  StartEngine();
  EXPECT_EQ(Run(task).outcome, Outcome::kReleased);
}

TEST_F(TransferFailureTest, WaitsForASignatureThatTakesLong) {
  TransferTask task = Put(7, "file", "content");
  task.source.valid_until = clock_.Monotonic();
  resolver_.Put(7, absl::DeadlineExceededError("no answer in time"));
  StartEngine();
  const uint64_t handle = Submit(task);
  EXPECT_TRUE(Eventually([this] { return resolver_.calls() > 10; }));
  resolver_.Put(7, FakeOrigin::SourceOf("file", "content", "s2"));
  ExpectStored(Wait(handle), "content");
}

TEST_F(TransferFailureTest, IsNotFoundAtOnce) {
  TransferTask task = Put(1, "file", "content");
  task.source.ranges[0].url = FakeOrigin::Url("gone");
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kNotFound);
  EXPECT_EQ(report.requests, 1);
  EXPECT_THAT(report.message, Not(HasSubstr("signature")));
}

TEST_F(TransferFailureTest, DoesNotFollowARedirect) {
  const TransferTask task = Put(1, "file", "content");
  Inject("file", Status(302, "", {{"Location", "http://127.0.0.1/x"}}), -1);
  StartEngine();
  EXPECT_EQ(Run(task).outcome, Outcome::kInvalid);
  EXPECT_EQ(origin_.transport().Requests().size(), 1u);
}

TEST_F(TransferFailureTest, ReachesNoFurtherThanItsHostMayLead) {
  const TransferTask task = Put(1, "file", "content");
  StartEngine();
  ExpectStored(Run(task), "content");
  EXPECT_EQ(origin_.transport().Requests()[0].reach, http::Reach::kLoopback);
}

TEST_F(TransferFailureTest, StartsAgainWhenTheObjectChanged) {
  const std::string bytes = AperiodicBytes(kLarge, 4);
  const TransferTask task = Put(1, "large", bytes);
  Inject("bytes=32768-", Status(412));
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(TransferFailureTest, StartsAgainWhenAPartHasAnotherEtag) {
  const std::string bytes = AperiodicBytes(kLarge, 5);
  const TransferTask task = Put(1, "large", bytes);
  Inject("bytes=32768-",
         Status(206, bytes.substr(32768, 16384),
                {{"Content-Range", absl::StrCat("bytes 32768-49151/", kLarge)},
                 {"ETag", "\"other\""}}));
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(TransferFailureTest, FetchesTheWholeWhereRangesAreIgnored) {
  const std::string bytes = AperiodicBytes(kLarge, 6);
  const TransferTask task = Put(1, "large", bytes);
  Inject("bytes=", Status(200, bytes), -1);
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(TransferFailureTest, RetriesAnAnswerWithTheWrongRange) {
  const std::string bytes = AperiodicBytes(kLarge, 7);
  const TransferTask task = Put(1, "large", bytes);
  Inject("bytes=32768-",
         Status(206, bytes.substr(0, 16384),
                {{"Content-Range", absl::StrCat("bytes 0-16383/", kLarge)}}));
  StartEngine();
  ExpectStored(Run(task), bytes);
}

TEST_F(TransferFailureTest, EndsARequestThatTheTransportForgot) {
  const TransferTask task = Put(1, "file", "content");
  Answer hanging;
  hanging.hang = true;
  Inject("file", hanging);
  EngineOptions options = QuickOptions();
  options.idle_limit = absl::Milliseconds(10);
  options.watchdog_grace = absl::Milliseconds(10);
  StartEngine(options);
  ExpectStored(Run(task), "content");
}

TEST_F(TransferFailureTest, PausesWhileTheStorageIsFull) {
  const TransferTask first = Put(1, "first", "content");
  const TransferTask second = Put(2, "second", "other");
  faulty_.faults().Fail(storage::StorageCall::kWriteAt,
                        absl::ResourceExhaustedError("disk full"));
  faulty_.faults().Fail(storage::StorageCall::kCheckMarker,
                        absl::UnavailableError("gone"));
  StartEngine();
  EXPECT_EQ(Run(first).outcome, Outcome::kStorageClosed);
  EXPECT_THAT(engine_->storage_problem(), HasSubstr("disk full"));
  const uint64_t waiting = Submit(second);
  EXPECT_TRUE(Eventually(
      [&] { return absl::StrContains(engine_->storage_problem(), "gone"); }));
  EXPECT_EQ(engine_->queued(), 1);
  faulty_.faults().Clear();
  ExpectStored(Wait(waiting), "other");
  EXPECT_EQ(engine_->storage_problem(), "");
}

TEST_F(TransferFailureTest, ReportsAFailedCommit) {
  const TransferTask task = Put(1, "file", "committed in vain");
  faulty_.faults().Fail(storage::StorageCall::kCommitBlob,
                        absl::ResourceExhaustedError("disk full"), 0, 1);
  StartEngine();
  const TransferReport report = Run(task);
  EXPECT_EQ(report.outcome, Outcome::kStorageClosed);
  EXPECT_EQ(report.room_needed, 17);
  EXPECT_THAT(report.message, HasSubstr("disk full"));
}

TEST_F(TransferFailureTest, AFileThatCannotBeStoredHoldsUpNoOther) {
  const TransferTask large = Put(1, "large", "content");
  const TransferTask next = Put(2, "next", "other");
  faulty_.faults().Fail(storage::StorageCall::kWriteAt,
                        absl::InvalidArgumentError("File too large"), 0, 1);
  StartEngine();
  EXPECT_EQ(Run(large).outcome, Outcome::kInvalid);
  EXPECT_EQ(engine_->storage_problem(), "");
  ExpectStored(Run(next), "other");
}

TEST_F(TransferFailureTest, FetchesABlobThatCameApartFromZero) {
  const TransferTask task = Put(1, "file", "content");
  faulty_.faults().Fail(storage::StorageCall::kCommitBlob,
                        absl::DataLossError("only 3 bytes were written"), 0, 1);
  StartEngine();
  EXPECT_EQ(Run(task).outcome, Outcome::kCorrupt);
  EXPECT_EQ(engine_->storage_problem(), "");
  const TransferReport second = Run(task);
  ExpectStored(second, "content");
  EXPECT_EQ(second.bytes_received, 7);
}

TEST_F(TransferFailureTest, KeepsWhatAReleasedTransferHasForItsSuccessor) {
  const std::string bytes = AperiodicBytes(kLarge, 8);
  const TransferTask task = Put(1, "large", bytes);
  Answer hanging;
  hanging.hang = true;
  Inject("bytes=65536-", hanging);
  EngineOptions options = QuickOptions();
  options.parts_at_once = 1;
  options.slots = 1;
  StartEngine(options);
  const uint64_t handle = Submit(task);
  EXPECT_TRUE(Eventually(
      [&] { return origin_.transport().CountRequests("large") == 5; }));
  engine_->Release(handle, "the lease is lost");
  EXPECT_EQ(Wait(handle).outcome, Outcome::kReleased);
  const TransferReport second = Run(task);
  ExpectStored(second, bytes);
  EXPECT_EQ(second.bytes_received, kLarge - 65536);
}

TEST_F(TransferFailureTest, FetchesAllAgainWhenARecoveredObjectChanged) {
  const std::string bytes = AperiodicBytes(kLarge, 9);
  const TransferTask task = Put(1, "large", bytes);
  Answer hanging;
  hanging.hang = true;
  Inject("bytes=65536-", hanging);
  EngineOptions options = QuickOptions();
  options.parts_at_once = 1;
  options.slots = 1;
  StartEngine(options);
  const uint64_t handle = Submit(task);
  EXPECT_TRUE(Eventually(
      [&] { return origin_.transport().CountRequests("large") == 5; }));
  engine_->Release(handle, "the lease is lost");
  Wait(handle);
  const std::string other = AperiodicBytes(kLarge, 10);
  const TransferReport second = Run(Put(1, "large", other));
  ExpectStored(second, other);
  EXPECT_EQ(second.bytes_received, kLarge);
}

TEST_F(TransferFailureTest, ReleasesWhatHasNotBeenStarted) {
  Answer hanging;
  hanging.hang = true;
  Inject("file", hanging, -1);
  StartEngine();
  std::vector<uint64_t> handles;
  for (int i = 0; i < 6; ++i) {
    handles.push_back(Submit(Put(i, absl::StrCat("file", i), "content")));
  }
  EXPECT_EQ(engine_->queued(), 2);
  engine_->ReleaseQueued("drain");
  EXPECT_EQ(Wait(handles[5]).outcome, Outcome::kReleased);
  EXPECT_TRUE(Eventually([&] { return engine_->held() == 4; }));
}

TEST_F(TransferFailureTest, RefusesASourceWithAGap) {
  TransferTask task = Put(1, "file", "content");
  task.source.ranges.push_back({5, 9, FakeOrigin::Url("x")});
  StartEngine();
  EXPECT_EQ(Run(task).outcome, Outcome::kInvalid);
}

}  // namespace
}  // namespace bimbackup::engine
