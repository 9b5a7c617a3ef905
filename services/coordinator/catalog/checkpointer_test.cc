#include "services/coordinator/catalog/checkpointer.h"

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::catalog {
namespace {

class CheckpointerTest : public testing::Test {
 protected:
  CheckpointerTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "checkpoint.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    writer_ = Open();
    writer_->Execute("PRAGMA journal_mode = WAL; CREATE TABLE t(x)");
    checkpointer_ = std::make_unique<Checkpointer>(Open());
    writer_->OnCommit([this](int64_t pages) {
      longest_ = std::max(longest_, pages);
      pages_ = pages;
      checkpointer_->Note(pages);
    });
  }
  ~CheckpointerTest() override {
    writer_.reset();
    checkpointer_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ + "/test.db"; }

  std::unique_ptr<Database> Open() const {
    auto database = Database::Open(path(), Database::Mode::kReadWrite);
    EXPECT_OK(database);
    return database.ok() ? *std::move(database) : nullptr;
  }

  // About 1,000 pages.
  void Write() {
    catalog::Run(*writer_, "INSERT INTO t VALUES(zeroblob(?))", 4'000'000);
    ASSERT_OK(writer_->TakeStatus());
  }

  std::string folder_;
  std::unique_ptr<Database> writer_;
  std::unique_ptr<Checkpointer> checkpointer_;
  int64_t pages_ = 0;
  int64_t longest_ = 0;
};

TEST_F(CheckpointerTest, ALogThatNeverRestsIsBegunAnew) {
  for (int i = 0; i < 40; ++i) Write();
  EXPECT_LT(longest_, 18'000);
}

TEST_F(CheckpointerTest, WhoReadsForLongHoldsUpNobody) {
  const std::unique_ptr<Database> reader = Open();
  reader->Execute("BEGIN; SELECT COUNT(*) FROM t");
  while (longest_ < 20'000) Write();
  reader->Execute("COMMIT");
  while (pages_ >= 4'000) Write();
}

}  // namespace
}  // namespace bimbackup::catalog
