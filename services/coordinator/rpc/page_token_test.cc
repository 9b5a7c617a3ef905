#include "services/coordinator/rpc/page_token.h"

#include <string>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::coordinator_rpc {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(PageTokenTest, CarriesAnyCursor) {
  const std::string cursor("a/b\n\0c", 6);
  const std::string token = MakePageToken("files x", cursor);
  EXPECT_THAT(ReadPageToken("files x", token), IsOkAndHolds(cursor));
}

TEST(PageTokenTest, EmptyTokenIsTheFirstPage) {
  EXPECT_THAT(ReadPageToken("files x", ""), IsOkAndHolds(""));
}

TEST(PageTokenTest, IsGoodForItsOwnListAndRequestOnly) {
  const std::string token = MakePageToken("files x", "7");
  EXPECT_THAT(ReadPageToken("files y", token), StatusIs(kInvalid));
}

TEST(PageTokenTest, RefusesWhatIsNoToken) {
  EXPECT_THAT(ReadPageToken("files x", "%%%"), StatusIs(kInvalid));
  EXPECT_THAT(ReadPageToken("files x", "abcd"), StatusIs(kInvalid));
}

TEST(PageSizeTest, HasADefaultAndABound) {
  EXPECT_THAT(ReadPageSize(0), IsOkAndHolds(100));
  EXPECT_THAT(ReadPageSize(1), IsOkAndHolds(1));
  EXPECT_THAT(ReadPageSize(5000), IsOkAndHolds(1000));
  EXPECT_THAT(ReadPageSize(-1), StatusIs(kInvalid));
}

}  // namespace
}  // namespace bimbackup::coordinator_rpc
