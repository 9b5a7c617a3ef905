#include "clients/cli/doctor/storage_checks.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bimbackup::cli::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StorageChecksTest : public testing::Test {
 protected:
  StorageChecksTest() {
    std::string path = testing::TempDir() + "doctor-XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~StorageChecksTest() override { std::filesystem::remove_all(folder_); }

  std::string Check(const std::string& url) {
    std::ostringstream out;
    Report report(out, false);
    CheckStorage(url, report);
    failed_ = report.failed();
    return out.str();
  }

  void WriteFile(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
  bool failed_ = false;
};

TEST_F(StorageChecksTest, AnEmptyFolderWillGetItsMarkerLater) {
  const std::string text = Check("file://" + folder_.string());
  EXPECT_FALSE(failed_) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("ok    marker"), HasSubstr("first start"),
                          HasSubstr("ok    rename"), HasSubstr("ok    locks"),
                          HasSubstr("ok    fsync"), HasSubstr("links")));
}

TEST_F(StorageChecksTest, NothingIsLeftBehind) {
  Check(folder_.string());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(StorageChecksTest, AStorageIsKnownByItsId) {
  WriteFile("bimbackup.json", R"({"format":1,"storage_id":)"
                              R"("11111111-2222-4333-8444-555555555555"})");
  EXPECT_THAT(Check(folder_.string()),
              AllOf(HasSubstr("ok    marker"), HasSubstr("11111111-2222")));
  EXPECT_FALSE(failed_);
}

TEST_F(StorageChecksTest, ANewerFormatIsRefused) {
  WriteFile("bimbackup.json", R"({"format":99,"storage_id":)"
                              R"("11111111-2222-4333-8444-555555555555"})");
  EXPECT_THAT(Check(folder_.string()), HasSubstr("FAIL  marker"));
}

TEST_F(StorageChecksTest, AFolderOfSomebodyElseIsRefused) {
  WriteFile("holiday.jpg", "");
  EXPECT_THAT(Check(folder_.string()), HasSubstr("FAIL  marker"));
  EXPECT_TRUE(failed_);
}

TEST_F(StorageChecksTest, AMissingFolderIsOneLine) {
  const std::string text = Check((folder_ / "gone").string());
  EXPECT_THAT(text, AllOf(HasSubstr("FAIL  storage"), HasSubstr("mount"),
                          Not(HasSubstr("marker"))));
}

TEST_F(StorageChecksTest, ARelativePathIsRefused) {
  EXPECT_THAT(Check("backup"), HasSubstr("FAIL  storage"));
}

}  // namespace
}  // namespace bimbackup::cli::doctor
