#include "services/coordinator/rebuild/catalog_copy.h"

#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "services/coordinator/rebuild/rebuild_fixture.h"

namespace bimbackup::rebuild {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CatalogCopyTest : public RebuildFixture {
 protected:
  absl::Status Copy(const std::string& id) {
    return StoreCatalogCopy(*harness_.catalog, *storage_, id,
                            [] { return false; });
  }
  std::vector<std::string> StateFiles() {
    std::vector<std::string> names;
    for (const auto& file :
         std::filesystem::directory_iterator(harness_.state_dir)) {
      names.push_back(file.path().filename().string());
    }
    return names;
  }
};

TEST_F(CatalogCopyTest, KeepsTheNewestTwo) {
  for (const char* id : {"a", "b", "c", "d"}) ASSERT_OK(Copy(id));
  EXPECT_THAT(
      ListCatalogCopies(*storage_),
      IsOkAndHolds(ElementsAre("catalog/d.db.zst", "catalog/c.db.zst")));
}

TEST_F(CatalogCopyTest, IsADatabaseAndLeavesNothingBehind) {
  Backup();
  ASSERT_OK(Copy("a"));
  std::string bytes;
  ASSERT_OK(ReadCatalogCopy(*storage_, "catalog/a.db.zst",
                            [&](absl::string_view part) {
                              bytes.append(part.data(), part.size());
                              return absl::OkStatus();
                            }));
  EXPECT_EQ(bytes.substr(0, 15), "SQLite format 3");
  for (const std::string& name : StateFiles()) {
    EXPECT_THAT(name, testing::Not(HasSubstr("copy")));
  }
}

TEST_F(CatalogCopyTest, CopyOfTheSameSnapshotStands) {
  ASSERT_OK(Copy("a"));
  ASSERT_OK(harness_.catalog->SetSetting("more", "of it"));
  EXPECT_OK(Copy("a"));
}

TEST_F(CatalogCopyTest, EndsWhenTheProcessStops) {
  EXPECT_THAT(
      StoreCatalogCopy(*harness_.catalog, *storage_, "a", [] { return true; }),
      StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(ListCatalogCopies(*storage_), IsOkAndHolds(IsEmpty()));
}

TEST_F(CatalogCopyTest, IsConsistentWhileOthersWrite) {
  for (int i = 0; i < 3000; ++i) {
    client().AddFile(old_, absl::StrCat("a file with a long name ", i), 1);
  }
  Backup();
  std::atomic<bool> done = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    while (!done) {
      EXPECT_OK(harness_.catalog->SetSetting(
          "count", absl::StrCat(written.fetch_add(1))));
    }
  });
  const absl::Status copied = Copy("a");
  done = true;
  writer.join();
  ASSERT_OK(copied);
  LoseCatalog();
  ASSERT_OK(Rebuild());
  harness_.Reopen();
  EXPECT_EQ(harness_.catalog->GetTotals()->files, 3003);
}

TEST_F(CatalogCopyTest, CopyThatEndsEarlyIsRefused) {
  ASSERT_OK(Copy("a"));
  std::string bytes = storage::ReadWholeFile(folder_ / "catalog/a.db.zst");
  bytes.resize(bytes.size() - 5);
  Spoil(folder_ / "catalog/a.db.zst", bytes);
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  EXPECT_THAT(ReadCatalogCopy(*storage_, "catalog/a.db.zst", ignore),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace bimbackup::rebuild
