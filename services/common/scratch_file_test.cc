#include "services/common/scratch_file.h"

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;

class ScratchFileTest : public testing::Test {
 protected:
  ScratchFileTest() {
    std::string name = testing::TempDir() + "/scratch-test-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ScratchFileTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(ScratchFileTest, GivesBackWhatWasAppended) {
  ASSERT_OK_AND_ASSIGN(const auto file, ScratchFile::Create(folder_));
  EXPECT_THAT(file->Append("one"), IsOkAndHolds(0));
  EXPECT_THAT(file->Append("three"), IsOkAndHolds(3));
  std::string text(5, '\0');
  EXPECT_OK(file->ReadAt(3, text.data(), text.size()));
  EXPECT_EQ(text, "three");
}

TEST_F(ScratchFileTest, ReadingPastItsEndFails) {
  ASSERT_OK_AND_ASSIGN(const auto file, ScratchFile::Create(folder_));
  ASSERT_OK(file->Append("one"));
  char buffer[4];
  EXPECT_THAT(file->ReadAt(0, buffer, 4),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(ScratchFileTest, LeavesNothingInItsFolder) {
  ASSERT_OK_AND_ASSIGN(const auto file, ScratchFile::Create(folder_));
  ASSERT_OK(file->Append("one"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ScratchFileTest, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(ScratchFile::Create(folder_ + "/none"),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace bimbackup
