#include "clients/http/http_transport.h"

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;

TEST(FindHeaderTest, IgnoresCase) {
  const Headers headers = {{"ETag", "a"}, {"etag", "b"}};
  EXPECT_EQ(FindHeader(headers, "ETAG"), "a");
  EXPECT_FALSE(FindHeader(headers, "Date"));
}

TEST(StatusFromHttpTest, FollowsTheTable) {
  EXPECT_OK(StatusFromHttp(206, "GET x"));
  const std::pair<int, absl::StatusCode> table[] = {
      {401, absl::StatusCode::kUnauthenticated},
      {403, absl::StatusCode::kPermissionDenied},
      {404, absl::StatusCode::kNotFound},
      {410, absl::StatusCode::kNotFound},
      {304, absl::StatusCode::kFailedPrecondition},
      {412, absl::StatusCode::kFailedPrecondition},
      {416, absl::StatusCode::kOutOfRange},
      {408, absl::StatusCode::kUnavailable},
      {429, absl::StatusCode::kUnavailable},
      {500, absl::StatusCode::kUnavailable},
      {503, absl::StatusCode::kUnavailable},
      {400, absl::StatusCode::kInvalidArgument},
      {302, absl::StatusCode::kInvalidArgument},
  };
  for (const auto& [http_status, code] : table) {
    EXPECT_THAT(StatusFromHttp(http_status, "GET x"), StatusIs(code))
        << http_status;
  }
}

TEST(ParseRetryAfterTest, TakesSecondsAndDatesWithinBounds) {
  const absl::Time now = absl::FromUnixSeconds(784111777);
  const auto parse = [&](absl::string_view text) {
    return ParseRetryAfter(text, now);
  };
  EXPECT_EQ(parse("25"), absl::Seconds(25));
  EXPECT_EQ(parse(" 0 "), absl::Seconds(1));
  EXPECT_EQ(parse("86400"), absl::Seconds(600));
  EXPECT_EQ(parse("99999999999999999999"), absl::Seconds(600));
  EXPECT_EQ(parse("Sun, 06 Nov 1994 08:50:00 GMT"), absl::Seconds(23));
  EXPECT_EQ(parse("Sun, 06 Nov 1994 08:00:00 GMT"), absl::Seconds(1));
  EXPECT_FALSE(parse("soon"));
  EXPECT_FALSE(parse("-5"));
  EXPECT_FALSE(parse(""));
}

TEST(ParseContentRangeTest, TakesRangesOnly) {
  const auto range = ParseContentRange("bytes 5-9/10");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5);
  EXPECT_EQ(range->last, 9);
  EXPECT_EQ(range->total, 10);
  EXPECT_FALSE(ParseContentRange("bytes 0-0/*")->total);
  for (const char* text :
       {"", "bytes", "bytes 9-5/10", "bytes 0-10/10", "bytes */10",
        "items 0-1/2", "bytes 0-99999999999999999999/*", "bytes -1-2/3"}) {
    EXPECT_FALSE(ParseContentRange(text)) << text;
  }
}

}  // namespace
}  // namespace bimbackup::http
