#include "services/coordinator/backup/ending.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::backup {
namespace {

using catalog::BackupCounters;
using catalog::BackupState;
using testing::AllOf;
using testing::HasSubstr;

TEST(EndingTest, SucceedsWhenNothingIsWrong) {
  const Ending ending = JudgeEnding(BackupCounters(), "");
  EXPECT_EQ(ending.state, BackupState::kSucceeded);
  EXPECT_EQ(ending.message, "");
}

TEST(EndingTest, IsPartialForEverythingThatIsMissing) {
  BackupCounters counters;
  counters.unlisted = 1;
  counters.transfers_failed = 3;
  counters.guarded = 200;
  const Ending ending = JudgeEnding(counters, "it took too long");
  EXPECT_EQ(ending.state, BackupState::kPartial);
  EXPECT_THAT(ending.message,
              AllOf(HasSubstr("it took too long"),
                    HasSubstr("1 folder or project could not be listed"),
                    HasSubstr("3 files could not be fetched"),
                    HasSubstr("bimbackup failures"),
                    HasSubstr("200 entries vanished")));
}

TEST(EndingTest, IsPartialWhenItWasCutShort) {
  EXPECT_EQ(JudgeEnding(BackupCounters(), "cut").state, BackupState::kPartial);
}

}  // namespace
}  // namespace bimbackup::backup
