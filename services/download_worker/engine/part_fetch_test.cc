#include "services/download_worker/engine/part_fetch.h"

#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/status_matchers.h"
#include "services/download_worker/engine/part_failure.h"

namespace bimbackup::engine {
namespace {

using testing::HasSubstr;

class FakeSink : public PartSink {
 public:
  absl::Status OnPartHead(const PartHead& head) override {
    this->head = head;
    return head_status;
  }
  absl::Status OnPartBytes(int64_t offset, absl::string_view bytes) override {
    if (!bytes_status.ok()) return bytes_status;
    if (body.empty()) begin = offset;
    body.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  void OnPartDone(uint64_t, const PartResult& result) override {
    this->result = result;
  }

  absl::Status head_status;
  absl::Status bytes_status;
  PartHead head;
  int64_t begin = -1;
  std::string body;
  std::optional<PartResult> result;
};

class PartFetchTest : public testing::Test {
 protected:
  void Begin(const PartRequest& request) {
    fetch_ = std::make_unique<PartFetch>(request, line_, clock_);
  }

  // Bytes 10 to 19 of an object of 30.
  static PartRequest Middle() {
    return {.begin = 10, .end = 20, .url_begin = 0, .url_end = 30};
  }
  static PartRequest WholeOf(int64_t size) {
    return {.begin = 0, .end = size, .url_begin = 0, .url_end = size};
  }

  absl::Status Head(int status, http::Headers headers = {}) {
    return fetch_->OnHead({status, std::move(headers)});
  }

  PartResult Done(const absl::Status& status = absl::OkStatus()) {
    http::TransferStats stats;
    stats.body_bytes = 7;
    fetch_->OnDone(status, stats);
    return sink_->result.value_or(PartResult());
  }

  FakeClock clock_;
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  std::shared_ptr<PartLine> line_ = std::make_shared<PartLine>(sink_);
  std::unique_ptr<PartFetch> fetch_;
};

TEST_F(PartFetchTest, HandsOnAMatchingRange) {
  Begin(Middle());
  EXPECT_OK(
      Head(206, {{"Content-Range", "bytes 10-19/30"}, {"ETag", "\"e\""}}));
  EXPECT_EQ(sink_->head.etag, "\"e\"");
  EXPECT_EQ(sink_->head.url_size, 30);
  EXPECT_OK(fetch_->OnBody("0123"));
  EXPECT_OK(fetch_->OnBody("456789"));
  EXPECT_EQ(line_->position(), 20);
  const PartResult result = Done();
  EXPECT_EQ(result.end, PartEnd::kComplete);
  EXPECT_EQ(result.position, 20);
  EXPECT_EQ(result.bytes_received, 7);
  EXPECT_EQ(sink_->begin, 10);
  EXPECT_EQ(sink_->body, "0123456789");
}

TEST_F(PartFetchTest, RefusesTheWholeInPlaceOfARange) {
  Begin(Middle());
  EXPECT_FALSE(Head(200, {{"Content-Length", "30"}}).ok());
  EXPECT_EQ(Done(absl::FailedPreconditionError("x")).end,
            PartEnd::kRangeIgnored);
}

TEST_F(PartFetchTest, RefusesAnotherRangeThanItAskedFor) {
  for (const char* range :
       {"bytes 0-9/30", "bytes 10-29/30", "bytes 10-18/30", "nonsense"}) {
    SCOPED_TRACE(range);
    line_ = std::make_shared<PartLine>(sink_);
    Begin(Middle());
    EXPECT_FALSE(Head(206, {{"Content-Range", range}}).ok());
    EXPECT_EQ(Done(absl::InvalidArgumentError("x")).end, PartEnd::kMalformed);
  }
}

TEST_F(PartFetchTest, RefusesARangeItDidNotAskFor) {
  Begin(WholeOf(10));
  EXPECT_FALSE(Head(206, {{"Content-Range", "bytes 0-9/10"}}).ok());
  EXPECT_EQ(Done(absl::InvalidArgumentError("x")).end, PartEnd::kMalformed);
}

TEST_F(PartFetchTest, RefusesABodyInACodingThatNobodyAskedFor) {
  Begin(Middle());
  EXPECT_FALSE(Head(206, {{"Content-Range", "bytes 10-19/30"},
                          {"Content-Encoding", "gzip"}})
                   .ok());
  EXPECT_EQ(Done(absl::InvalidArgumentError("x")).end, PartEnd::kMalformed);
  EXPECT_EQ(sink_->body, "");
  line_ = std::make_shared<PartLine>(sink_);
  Begin(Middle());
  EXPECT_OK(Head(206, {{"Content-Range", "bytes 10-19/30"},
                       {"Content-Encoding", "identity"}}));
}

TEST_F(PartFetchTest, RefusesBytesBeyondTheEnd) {
  Begin(WholeOf(3));
  EXPECT_OK(Head(200));
  EXPECT_FALSE(fetch_->OnBody("0123").ok());
  EXPECT_EQ(sink_->body, "");
  EXPECT_EQ(Done(absl::InvalidArgumentError("x")).end, PartEnd::kMalformed);
}

TEST_F(PartFetchTest, NoticesAShortBodyThatTheTransportDidNot) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(200));
  EXPECT_OK(fetch_->OnBody("012"));
  const PartResult result = Done();
  EXPECT_EQ(result.end, PartEnd::kTransport);
  EXPECT_THAT(result.status,
              absl_testing::StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(result.position, 3);
}

TEST_F(PartFetchTest, TakesAnUnknownEndFromContentLength) {
  Begin({});
  EXPECT_OK(Head(200, {{"content-length", "5"}}));
  EXPECT_EQ(sink_->head.url_size, 5);
  EXPECT_OK(fetch_->OnBody("0123"));
  EXPECT_EQ(Done().end, PartEnd::kTransport);
}

TEST_F(PartFetchTest, KeepsTheCodeOfAnErrorAndWritesNoneOfItsBody) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(503, {{"Retry-After", "3"}}));
  EXPECT_OK(fetch_->OnBody("<Error><Code>SlowDown</Code>"));
  const PartResult result = Done();
  EXPECT_EQ(result.end, PartEnd::kHttpStatus);
  EXPECT_EQ(result.http_status, 503);
  EXPECT_EQ(result.retry_after, absl::Seconds(3));
  EXPECT_THAT(result.status,
              absl_testing::StatusIs(absl::StatusCode::kUnavailable,
                                     HasSubstr("SlowDown")));
  EXPECT_EQ(sink_->body, "");
}

TEST_F(PartFetchTest, ReadsNoMoreOfAnErrorThanItKeeps) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(403));
  EXPECT_OK(fetch_->OnBody(std::string(5000, 'x')));
  EXPECT_FALSE(fetch_->OnBody("more").ok());
  EXPECT_EQ(Done(absl::PermissionDeniedError("x")).end, PartEnd::kHttpStatus);
}

TEST_F(PartFetchTest, AHostBeyondReachIsNotAskedAgain) {
  Begin(WholeOf(10));
  const PartResult result = Done(absl::PermissionDeniedError("10.0.0.1"));
  EXPECT_EQ(result.end, PartEnd::kInvalid);
  EXPECT_EQ(ClassifyPart(result).action, FailureAction::kFail);
}

TEST_F(PartFetchTest, TellsTheStorageFromTheTransport) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(200));
  sink_->bytes_status = absl::UnavailableError("share gone");
  EXPECT_FALSE(fetch_->OnBody("0123").ok());
  const PartResult result = Done(absl::UnavailableError("share gone"));
  EXPECT_EQ(result.end, PartEnd::kStorage);
  EXPECT_EQ(ClassifyPart(result).outcome, Outcome::kStorageFailed);
}

TEST_F(PartFetchTest, NoticesAnotherObject) {
  Begin(WholeOf(10));
  sink_->head_status = absl::FailedPreconditionError("another ETag");
  EXPECT_FALSE(Head(200).ok());
  EXPECT_EQ(Done(absl::FailedPreconditionError("x")).end, PartEnd::kChanged);
}

TEST_F(PartFetchTest, IgnoresAWeakEtag) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(200, {{"ETag", "W/\"e\""}}));
  EXPECT_EQ(sink_->head.etag, "");
}

TEST_F(PartFetchTest, GoesNowhereOnceItIsAbandoned) {
  Begin(WholeOf(10));
  EXPECT_OK(Head(200));
  line_->Abandon();
  EXPECT_TRUE(absl::IsCancelled(fetch_->OnBody("0123")));
  Done(absl::CancelledError("x"));
  EXPECT_FALSE(sink_->result.has_value());
  EXPECT_EQ(sink_->body, "");
}

TEST(ClassifyPartTest, TellsAFileThatCannotBeStoredFromABadStorage) {
  const auto classify = [](const absl::Status& error) {
    return ClassifyPart({.end = PartEnd::kStorage, .status = error});
  };
  const PartFailure too_large = classify(absl::InvalidArgumentError("x"));
  EXPECT_EQ(too_large.action, FailureAction::kFail);
  EXPECT_EQ(too_large.outcome, Outcome::kInvalid);
  const PartFailure bad = classify(absl::DataLossError("x"));
  EXPECT_EQ(bad.action, FailureAction::kRestart);
  EXPECT_EQ(bad.outcome, Outcome::kCorrupt);
  const PartFailure full = classify(absl::ResourceExhaustedError("x"));
  EXPECT_EQ(full.action, FailureAction::kStorage);
  EXPECT_EQ(full.outcome, Outcome::kStorageClosed);
  const PartFailure failed = classify(absl::UnavailableError("x"));
  EXPECT_EQ(failed.action, FailureAction::kStorage);
  EXPECT_EQ(failed.outcome, Outcome::kStorageFailed);
}

TEST(ClassifyPartTest, FollowsTheTable) {
  struct {
    int status;
    FailureAction action;
    Outcome outcome;
  } const kCases[] = {
      {302, FailureAction::kFail, Outcome::kInvalid},
      {400, FailureAction::kSignAgain, Outcome::kRefused},
      {403, FailureAction::kSignAgain, Outcome::kRefused},
      {404, FailureAction::kFail, Outcome::kNotFound},
      {408, FailureAction::kRetry, Outcome::kRetryable},
      {410, FailureAction::kFail, Outcome::kNotFound},
      {412, FailureAction::kRestart, Outcome::kCorrupt},
      {416, FailureAction::kRestart, Outcome::kCorrupt},
      {418, FailureAction::kFail, Outcome::kInvalid},
      {429, FailureAction::kRetry, Outcome::kRetryable},
      {500, FailureAction::kRetry, Outcome::kRetryable},
      {503, FailureAction::kRetry, Outcome::kRetryable},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.status);
    const PartFailure failure =
        ClassifyPart({.end = PartEnd::kHttpStatus, .http_status = test.status});
    EXPECT_EQ(failure.action, test.action);
    EXPECT_EQ(failure.outcome, test.outcome);
  }
}

}  // namespace
}  // namespace bimbackup::engine
