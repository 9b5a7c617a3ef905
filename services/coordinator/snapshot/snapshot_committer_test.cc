#include "services/coordinator/snapshot/snapshot_committer.h"

#include <filesystem>

#include "clients/storage/faulty_storage.h"
#include "services/coordinator/snapshot/snapshot_fixture.h"

namespace bimbackup::snapshot {
namespace {

using ::absl_testing::StatusIs;
using catalog::BackupState;
using storage::StorageCall;
using storage::format::Snapshot;

class SnapshotCommitterTest : public SnapshotTest {
 protected:
  SnapshotCommitterTest() : faulty_(*storage_) {
    for (const char* id : {"b.1", "b.2", "b.3"}) {
      tree_.AddProject(id, std::string("Project ") + id);
      tree_.AddFile(id, "", std::string("i-") + id, "x", Sha256Hex(id));
    }
  }

  absl::StatusOr<Snapshot> Commit(const catalog::BackupRecord& backup) {
    SnapshotCommitter committer(tree_, faulty_, clock_, "account", {});
    return committer.Commit(backup, BackupState::kSucceeded);
  }

  size_t CountManifests() {
    return storage_->List("manifests/", "")->entries.size();
  }

  storage::FaultyStorage faulty_;
};

TEST_F(SnapshotCommitterTest, TheFirstSnapshotHoldsAllProjects) {
  ASSERT_OK(Commit(Backup(1)));
  EXPECT_EQ(tree_.snapshots[1], Backup(1).id);
  ASSERT_OK_AND_ASSIGN(const Snapshot snapshot,
                       storage::format::ReadSnapshot(*storage_, Backup(1).id));
  EXPECT_EQ(snapshot.state, "SUCCEEDED");
  EXPECT_EQ(snapshot.account_id, "account");
  EXPECT_EQ(snapshot.storage_id, storage_->id());
  EXPECT_EQ(snapshot.start_time, Backup(1).create_time);
  ASSERT_EQ(snapshot.projects.size(), 3);
  EXPECT_EQ(snapshot.projects[1].project_id, "b.2");
  EXPECT_EQ(snapshot.projects[1].stored_name, "Project b.2");
  EXPECT_EQ(snapshot.projects[1].manifest_sha256,
            tree_.projects["b.2"].manifest_sha256);
  EXPECT_EQ(snapshot.projects[1].counts.files, 1);
  EXPECT_EQ(tree_.manifests_written, 3);
}

TEST_F(SnapshotCommitterTest, ACleanNightWritesOneFile) {
  ASSERT_OK_AND_ASSIGN(const Snapshot first, Commit(Backup(1)));
  const int commits = faulty_.faults().calls(StorageCall::kCommitObject);
  ASSERT_OK_AND_ASSIGN(const Snapshot second, Commit(Backup(2)));
  EXPECT_EQ(faulty_.faults().calls(StorageCall::kCommitObject), commits + 1);
  EXPECT_EQ(tree_.manifests_written, 3);
  ASSERT_EQ(second.projects.size(), 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(second.projects[i].manifest_sha256,
              first.projects[i].manifest_sha256);
    EXPECT_EQ(second.projects[i].counts, first.projects[i].counts);
  }
}

TEST_F(SnapshotCommitterTest, OnlyWhatChangedIsWrittenAnew) {
  ASSERT_OK(Commit(Backup(1)));
  tree_.AddFile("b.2", "", "new", "new", Sha256Hex("new"));
  // Marked as changed, but the same when looked at.
  tree_.projects["b.3"].changed = true;
  ASSERT_OK_AND_ASSIGN(const Snapshot second, Commit(Backup(2)));
  EXPECT_EQ(tree_.manifests_written, 4);
  EXPECT_EQ(CountManifests(), 4);
  EXPECT_EQ(second.projects[1].counts.files, 2);
}

TEST_F(SnapshotCommitterTest, ADoneCommitIsFoundDone) {
  ASSERT_OK(Commit(Backup(1)));
  tree_.snapshots.clear();
  tree_.AddFile("b.2", "", "late", "late", Sha256Hex("late"));
  clock_.Advance(absl::Seconds(1));
  ASSERT_OK_AND_ASSIGN(const Snapshot again, Commit(Backup(1)));
  EXPECT_EQ(tree_.snapshots[1], Backup(1).id);
  EXPECT_EQ(again.projects[1].counts.files, 1);
  EXPECT_EQ(CountManifests(), 3);
}

// Wherever the catalog's writes or the storage's break off, doing it again
// leaves the same snapshot, and no manifest twice.
TEST_F(SnapshotCommitterTest, ItGoesOnFromWhereverItBrokeOff) {
  for (int at = 1; at <= 4; ++at) {
    const int number = at;
    for (const char* id : {"b.1", "b.2", "b.3"}) {
      tree_.AddFile(id, "", id + std::to_string(at), std::to_string(at),
                    Sha256Hex(id));
    }
    tree_.fail_at_change = at;
    EXPECT_THAT(Commit(Backup(number)), StatusIs(absl::StatusCode::kInternal));
    EXPECT_FALSE(tree_.snapshots.contains(number));
    ASSERT_OK_AND_ASSIGN(const Snapshot snapshot, Commit(Backup(number)));
    EXPECT_EQ(tree_.snapshots[number], snapshot.id);
    EXPECT_EQ(CountManifests(), 3 * at);
    for (const auto& project : snapshot.projects) {
      EXPECT_EQ(project.counts.files, 1 + at);
      EXPECT_EQ(ReadManifest(project.manifest_sha256).size(), 2 + at);
    }
  }
}

TEST_F(SnapshotCommitterTest, AFullStorageLeavesNoSnapshot) {
  for (int commits = 0; commits < 4; ++commits) {
    faulty_.faults().Fail(StorageCall::kCommitObject,
                          absl::ResourceExhaustedError("full"), 1, 1);
    const absl::Status status = Commit(Backup(1)).status();
    faulty_.faults().Clear();
    if (status.ok()) break;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
    EXPECT_TRUE(tree_.snapshots.empty());
  }
  EXPECT_OK(Commit(Backup(1)));
  EXPECT_EQ(CountManifests(), 3);
}

TEST_F(SnapshotCommitterTest, AManifestThatHasGoneIsWrittenAgain) {
  ASSERT_OK_AND_ASSIGN(const Snapshot first, Commit(Backup(1)));
  const std::string key =
      storage::format::ManifestKey(first.projects[0].manifest_sha256);
  std::filesystem::remove(folder_ / key);
  ASSERT_OK(Commit(Backup(2)));
  EXPECT_TRUE(std::filesystem::exists(folder_ / key));
}

TEST_F(SnapshotCommitterTest, ALostSnapshotFileCostsNoManifest) {
  ASSERT_OK(Commit(Backup(1)));
  storage::WriteWholeFile(folder_ / "snapshots/20260132T000000Z-0.json", "{");
  ASSERT_OK_AND_ASSIGN(const Snapshot second, Commit(Backup(3)));
  EXPECT_EQ(tree_.manifests_written, 3);
  EXPECT_EQ(second.projects[0].counts.files, 1);
}

TEST_F(SnapshotCommitterTest, ProjectsOfOneNameGetTheirOwnFolders) {
  tree_.projects["b.2"].name = "Project b.1";
  ASSERT_OK_AND_ASSIGN(const Snapshot snapshot, Commit(Backup(1)));
  EXPECT_EQ(snapshot.projects[0].stored_name, "Project b.1");
  EXPECT_NE(snapshot.projects[1].stored_name, "Project b.1");
}

TEST_F(SnapshotCommitterTest, AProjectWhoseFolderNameShiftsIsWrittenAnew) {
  // b.2's folder has the plain name until a twin with a lower id turns up.
  tree_.projects["b.2"].name = "Same";
  ASSERT_OK_AND_ASSIGN(const Snapshot first, Commit(Backup(1)));
  EXPECT_EQ(first.projects[1].stored_name, "Same");
  tree_.AddProject("b.0", "Same");
  ASSERT_OK_AND_ASSIGN(const Snapshot second, Commit(Backup(2)));
  ASSERT_EQ(second.projects.size(), 4);
  EXPECT_EQ(second.projects[0].stored_name, "Same");
  EXPECT_NE(second.projects[2].stored_name, "Same");
  EXPECT_EQ(ReadManifest(second.projects[2].manifest_sha256)[0].stored_path,
            second.projects[2].stored_name);
}

TEST_F(SnapshotCommitterTest, WhatAFilterKeptFromEverBeingListedIsLeftOut) {
  tree_.AddProject("b.4", "Never listed");
  catalog::BackupRecord backup = Backup(1);
  backup.request.projects = {"Project b.1"};
  ASSERT_OK_AND_ASSIGN(const Snapshot snapshot, Commit(backup));
  EXPECT_EQ(snapshot.projects.size(), 3);
  ASSERT_OK_AND_ASSIGN(const Snapshot whole, Commit(Backup(2)));
  EXPECT_EQ(whole.projects.size(), 4);
}

TEST_F(SnapshotCommitterTest, APartialBackupSaysSo) {
  SnapshotCommitter committer(tree_, faulty_, clock_, "account", {});
  ASSERT_OK_AND_ASSIGN(const Snapshot snapshot,
                       committer.Commit(Backup(1), BackupState::kPartial));
  EXPECT_EQ(snapshot.state, "PARTIAL");
}

}  // namespace
}  // namespace bimbackup::snapshot
