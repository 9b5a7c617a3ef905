// GoogleTest matchers for absl::Status and absl::StatusOr, under the names of
// later Abseil, so that an upgrade removes this file. For tests only.

#ifndef SERVICES_COMMON_STATUS_MATCHERS_H_
#define SERVICES_COMMON_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace absl_testing {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}

template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

// Matches a Status or StatusOr that is OK.
MATCHER(IsOk, "is OK") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).ok();
}

// Matches a StatusOr that holds a value which `inner` matches.
MATCHER_P(IsOkAndHolds, inner, "is OK and holds a matching value") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return testing::ExplainMatchResult(inner, *arg, result_listener);
}

// Matches a Status or StatusOr with this code.
MATCHER_P(StatusIs, code, "has the status code") {
  *result_listener << GetStatus(arg).ToString();
  return testing::ExplainMatchResult(testing::Eq(code), GetStatus(arg).code(),
                                     result_listener);
}

// Matches a Status or StatusOr with this code and a message that `message`
// matches.
MATCHER_P2(StatusIs, code, message, "has the status code and message") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).code() == code &&
         testing::ExplainMatchResult(
             message,
             std::string(GetStatus(arg).message().data(),
                         GetStatus(arg).message().size()),
             result_listener);
}

}  // namespace absl_testing

#define EXPECT_OK(expr) EXPECT_THAT(expr, ::absl_testing::IsOk())
#define ASSERT_OK(expr) ASSERT_THAT(expr, ::absl_testing::IsOk())

#define BIMBACKUP_ASSERT_OK_AND_ASSIGN_IMPL(temporary, lhs, expr) \
  auto temporary = (expr);                                        \
  ASSERT_OK(temporary);                                           \
  lhs = *std::move(temporary)
#define BIMBACKUP_TEST_CONCAT_INNER(a, b) a##b
#define BIMBACKUP_TEST_CONCAT(a, b) BIMBACKUP_TEST_CONCAT_INNER(a, b)
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  BIMBACKUP_ASSERT_OK_AND_ASSIGN_IMPL(  \
      BIMBACKUP_TEST_CONCAT(test_status_or_, __LINE__), lhs, expr)

#endif  // SERVICES_COMMON_STATUS_MATCHERS_H_
