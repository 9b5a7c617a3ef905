// The latest view made anew beside the backups that bring it up to date.

#include <filesystem>
#include <thread>

#include "services/coordinator/snapshot/snapshot_fixture.h"
#include "services/coordinator/snapshot/storage_snapshot_step.h"

namespace bimbackup::snapshot {
namespace {

using ::absl_testing::StatusIs;
using storage::format::Snapshot;

// Knows of no damage.
class NoDamage : public catalog::DamageStore {
 public:
  absl::StatusOr<bool> RecordDamagedBlob(const catalog::DamagedBlob&) override {
    return false;
  }
  absl::StatusOr<bool> RecordDamagedManifest(absl::string_view) override {
    return false;
  }
  absl::StatusOr<std::vector<std::string>> ListMended(int) override {
    return std::vector<std::string>();
  }
  absl::Status ForgetMended(const std::vector<std::string>&) override {
    return absl::OkStatus();
  }
};

class RebuildLatestTest : public SnapshotTest {
 protected:
  RebuildLatestTest() {
    tree_.AddProject("b.1", "Tower");
    tree_.AddFolder("b.1", "", "f", "Plans");
    for (const std::string id : {"a", "b", "c"}) {
      tree_.AddFile("b.1", "f", id, id + ".pdf", Blob(id));
    }
  }

  // What a backup does at its end.
  void Commit(int number) {
    ASSERT_OK(
        step_.WriteSnapshot(Backup(number), catalog::BackupState::kSucceeded));
    ASSERT_OK(step_.UpdateLatest(Backup(number)));
  }

  absl::Status Rebuild(const LatestUpdater::Progress& progress) {
    return step_.RebuildLatest(
        [this](const Snapshot& snapshot) {
          shown_ = snapshot.id;
          return absl::OkStatus();
        },
        progress);
  }
  static absl::Status GoOn(int64_t) { return absl::OkStatus(); }

  NoDamage damage_;
  catalog::SweepGates gates_;
  StorageSnapshotStep step_{tree_,     damage_, *storage_, clock_,
                            "account", {},      gates_};
  std::string shown_;
};

TEST_F(RebuildLatestTest, ShowsTheNewestSnapshot) {
  Commit(1);
  tree_.AddFile("b.1", "f", "d", "d.pdf", Blob("d"));
  Commit(2);
  const auto whole = ReadLatest();
  std::filesystem::remove_all(folder_ / "latest");
  ASSERT_OK(Rebuild(GoOn));
  EXPECT_EQ(shown_, Backup(2).id);
  EXPECT_EQ(ReadLatest(), whole);
}

TEST_F(RebuildLatestTest, NeedsASnapshot) {
  EXPECT_THAT(Rebuild(GoOn), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RebuildLatestTest, NeedsAView) {
  Commit(1);
  storage::OpenOptions options;
  options.url = folder_.path();
  options.latest = "off";
  auto without = *storage::OpenStorage(options);
  StorageSnapshotStep step(tree_, damage_, *without, clock_, "account", {},
                           gates_);
  EXPECT_THAT(step.RebuildLatest(
                  [](const Snapshot&) { return absl::OkStatus(); }, GoOn),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RebuildLatestTest, OneAtATime) {
  Commit(1);
  absl::Status second;
  ASSERT_OK(Rebuild([&](int64_t) {
    second = Rebuild(GoOn);
    return absl::OkStatus();
  }));
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kAborted));
}

TEST_F(RebuildLatestTest, GivesWayToABackupWhichGoesOnWithIt) {
  Commit(1);
  const auto whole = ReadLatest();
  std::thread backup;
  const absl::Status status = Rebuild([&](int64_t) {
    if (!backup.joinable()) {
      backup = std::thread([&] { EXPECT_OK(step_.UpdateLatest(Backup(1))); });
    }
    while (!step_.BackupWaits()) std::this_thread::yield();
    return absl::OkStatus();
  });
  backup.join();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(ReadLatest(), whole);
}

TEST_F(RebuildLatestTest, CallerThatGoesEndsIt) {
  Commit(1);
  const auto whole = ReadLatest();
  EXPECT_THAT(Rebuild([](int64_t) { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled));
  ASSERT_OK(step_.UpdateLatest(Backup(1)));
  EXPECT_EQ(ReadLatest(), whole);
}

}  // namespace
}  // namespace bimbackup::snapshot
