#include "clients/bim360/page_loop_guard.h"

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360 {
namespace {

using absl_testing::StatusIs;

TEST(PageLoopGuardTest, RefusesAPageThatWasSeen) {
  PageLoopGuard guard;
  EXPECT_OK(guard.Visit("https://a/page/1"));
  EXPECT_OK(guard.Visit("https://a/page/2"));
  EXPECT_THAT(guard.Visit("https://a/page/1"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(PageLoopGuardTest, RefusesAnEndlessListing) {
  PageLoopGuard guard(2);
  EXPECT_OK(guard.Visit("1"));
  EXPECT_OK(guard.Visit("2"));
  EXPECT_THAT(guard.Visit("3"), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace bimbackup::bim360
