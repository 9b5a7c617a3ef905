#include "services/common/failpoint.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace bimbackup {
namespace {

TEST(FailpointDeathTest, KillsAtTheNamedHitAndNowhereElse) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("BIMBACKUP_FAILPOINT", "second:2", 1);
  EXPECT_EXIT(
      {
        MaybeCrash("first");
        MaybeCrash("second");
        MaybeCrash("second");
        std::exit(0);
      },
      testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(
      {
        MaybeCrash("second");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  unsetenv("BIMBACKUP_FAILPOINT");
}

}  // namespace
}  // namespace bimbackup
