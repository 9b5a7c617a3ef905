#include "clients/storage/format/protection.h"

#include <memory>

#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage::format {
namespace {

using absl_testing::IsOkAndHolds;

TEST(ProtectionTest, IsSetAndTakenAwayAnyNumberOfTimes) {
  const TempFolder folder;
  OpenOptions options;
  options.url = folder.path();
  options.create = true;
  ASSERT_OK_AND_ASSIGN(const auto storage, OpenStorage(options));
  EXPECT_THAT(IsProtected(*storage, "s1"), IsOkAndHolds(false));
  EXPECT_OK(SetProtected(*storage, "s1", false));
  for (int i = 0; i < 2; ++i) EXPECT_OK(SetProtected(*storage, "s1", true));
  EXPECT_THAT(IsProtected(*storage, "s1"), IsOkAndHolds(true));
  EXPECT_THAT(IsProtected(*storage, "s2"), IsOkAndHolds(false));
  for (int i = 0; i < 2; ++i) EXPECT_OK(SetProtected(*storage, "s1", false));
  EXPECT_THAT(IsProtected(*storage, "s1"), IsOkAndHolds(false));
}

}  // namespace
}  // namespace bimbackup::storage::format
