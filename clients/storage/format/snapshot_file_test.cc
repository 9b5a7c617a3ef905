#include "clients/storage/format/snapshot_file.h"

#include <memory>

#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage::format {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;

class SnapshotFileTest : public testing::Test {
 protected:
  SnapshotFileTest() {
    OpenOptions options;
    options.url = folder_.path();
    options.create = true;
    storage_ = *OpenStorage(options);
  }

  Snapshot Make(const std::string& id) {
    Snapshot snapshot;
    snapshot.id = id;
    snapshot.backup_id = id;
    snapshot.account_id = "account";
    snapshot.storage_id = storage_->id();
    snapshot.start_time = absl::FromUnixSeconds(1769903999);
    snapshot.end_time = absl::FromUnixMillis(1769904000123);
    snapshot.state = "PARTIAL";
    snapshot.projects = {{"b.1",
                          "Tower \"A\"",
                          "Tower %22A%22",
                          Sha256Hex("1"),
                          {1, 2, 3, 4, 5, 6, 7}},
                         {"b.2", "", "%", Sha256Hex("2"), {}}};
    return snapshot;
  }

  TempFolder folder_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(SnapshotFileTest, ASnapshotIsReadBackAsItWasWritten) {
  const Snapshot written = Make("20260131T235959Z-00000001");
  ASSERT_OK(WriteSnapshot(*storage_, written));
  ASSERT_OK_AND_ASSIGN(const Snapshot read,
                       ReadSnapshot(*storage_, written.id));
  EXPECT_EQ(read.backup_id, written.backup_id);
  EXPECT_EQ(read.account_id, written.account_id);
  EXPECT_EQ(read.storage_id, written.storage_id);
  EXPECT_EQ(read.start_time, written.start_time);
  EXPECT_EQ(read.end_time, written.end_time);
  EXPECT_EQ(read.state, written.state);
  ASSERT_EQ(read.projects.size(), 2);
  EXPECT_EQ(read.projects[0].project_id, "b.1");
  EXPECT_EQ(read.projects[0].name, "Tower \"A\"");
  EXPECT_EQ(read.projects[0].stored_name, "Tower %22A%22");
  EXPECT_EQ(read.projects[0].manifest_sha256, Sha256Hex("1"));
  EXPECT_EQ(read.projects[0].counts, written.projects[0].counts);
}

TEST_F(SnapshotFileTest, SnapshotsAreListedOldestFirst) {
  EXPECT_THAT(ListSnapshotIds(*storage_), IsOkAndHolds(ElementsAre()));
  for (const char* id : {"20260201T000000Z-1", "20251231T000000Z-2"}) {
    ASSERT_OK(WriteSnapshot(*storage_, Make(id)));
  }
  EXPECT_THAT(
      ListSnapshotIds(*storage_),
      IsOkAndHolds(ElementsAre("20251231T000000Z-2", "20260201T000000Z-1")));
}

TEST_F(SnapshotFileTest, ADamagedSnapshotIsRefused) {
  for (const char* text : {"", "{}", "{\"format\":1}", "[]",
                           "{\"format\":1,\"id\":\"x\",\"projects\":[]}"}) {
    WriteWholeFile(folder_ / "snapshots/x.json", text);
    EXPECT_THAT(ReadSnapshot(*storage_, "x"),
                StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_THAT(ReadSnapshot(*storage_, "y"),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadSnapshot(*storage_, "../bimbackup"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace bimbackup::storage::format
