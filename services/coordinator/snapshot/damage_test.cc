// What becomes of damage, and of what was mended.

#include <filesystem>

#include "clients/storage/faulty_storage.h"
#include "gmock/gmock.h"
#include "services/coordinator/snapshot/damage_keeper.h"
#include "services/coordinator/snapshot/snapshot_fixture.h"
#include "services/coordinator/snapshot/view_mender.h"

namespace bimbackup::snapshot {
namespace {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using verify::Damage;
using verify::DamageKind;

// Plain members that a test fills and reads.
class FakeDamageStore : public catalog::DamageStore {
 public:
  std::vector<catalog::DamagedBlob> blobs;
  std::vector<std::string> manifests;
  std::vector<std::string> mended;

  absl::StatusOr<bool> RecordDamagedBlob(
      const catalog::DamagedBlob& blob) override {
    blobs.push_back(blob);
    return true;
  }
  absl::StatusOr<bool> RecordDamagedManifest(
      absl::string_view sha256) override {
    manifests.emplace_back(sha256);
    return true;
  }
  absl::StatusOr<std::vector<std::string>> ListMended(int) override {
    return mended;
  }
  absl::Status ForgetMended(
      const std::vector<std::string>& forgotten) override {
    for (const std::string& sha256 : forgotten) std::erase(mended, sha256);
    return absl::OkStatus();
  }
};

class DamageTest : public SnapshotTest {
 protected:
  std::string PathOf(const std::string& sha256) {
    return folder_ / ("blobs/sha256/" + sha256.substr(0, 3) + "/" + sha256);
  }

  static Damage DamageOf(DamageKind kind, const std::string& sha256) {
    Damage damage;
    damage.kind = kind;
    damage.sha256 = sha256;
    damage.storage_urn = "urn:a";
    damage.size = 5;
    damage.project_id = "b.1";
    damage.project_name = "Tower";
    damage.item_id = "item";
    damage.path = {"Plans", "a.pdf"};
    return damage;
  }

  FakeDamageStore store_;
  catalog::SweepGates gates_;
};

TEST_F(DamageTest, ADamagedBlobIsSetAsideAndRemembered) {
  const std::string sha256 = Blob("a");
  DamageKeeper keeper(store_, *storage_, gates_);
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kWrongDigest, sha256)),
              IsOkAndHolds(true));
  EXPECT_FALSE(std::filesystem::exists(PathOf(sha256)));
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("damaged/" + sha256)));
  ASSERT_THAT(store_.blobs, SizeIs(1));
  EXPECT_EQ(store_.blobs[0].sha256, sha256);
  EXPECT_EQ(store_.blobs[0].storage_urn, "urn:a");
  EXPECT_EQ(store_.blobs[0].size, 5);
  EXPECT_EQ(store_.blobs[0].project_name, "Tower");
  EXPECT_THAT(store_.blobs[0].path, ElementsAre("Plans", "a.pdf"));
}

TEST_F(DamageTest, ABlobThatCannotBeSetAsideWillNotBeMended) {
  const std::string sha256 = Blob("a");
  storage::FaultyStorage storage(*storage_);
  storage.faults().SetReadOnly();
  DamageKeeper keeper(store_, storage, gates_);
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kWrongDigest, sha256)),
              IsOkAndHolds(false));
  EXPECT_THAT(store_.blobs, IsEmpty());
  // One that is not there needs no place.
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kMissingBlob, sha256)),
              IsOkAndHolds(true));
  storage.faults().SetVanished();
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kWrongSize, sha256)),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(DamageTest, ManifestsAreRememberedAndSnapshotFilesAreNot) {
  DamageKeeper keeper(store_, *storage_, gates_);
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kManifest, "digest")),
              IsOkAndHolds(true));
  EXPECT_THAT(store_.manifests, ElementsAre("digest"));
  EXPECT_THAT(keeper.Keep(DamageOf(DamageKind::kSnapshot, "")),
              IsOkAndHolds(false));
}

TEST_F(DamageTest, WhatWasMendedIsPutIntoTheLatestViewAgain) {
  const std::string sha256 = Blob("good");
  const std::string other = Blob("other");
  storage::format::Snapshot snapshot;
  auto writer = *storage::format::ManifestWriter::Create(*storage_);
  for (const auto& [name, digest] :
       {std::pair("a", sha256), std::pair("b", other),
        std::pair("c", sha256)}) {
    storage::format::ManifestEntry entry;
    entry.project_id = "b.1";
    entry.stored_path = std::string("Tower/") + name;
    entry.sha256 = digest;
    entry.last_modified = absl::FromUnixSeconds(1700000000);
    ASSERT_OK(writer->Append(entry));
  }
  snapshot.projects.emplace_back().manifest_sha256 = *writer->Commit();
  std::filesystem::create_directories(folder_ / "latest/Tower");
  for (const char* name : {"a", "b", "c"}) {
    storage::WriteWholeFile(folder_ / "latest/Tower" + "/" + name, "bad");
  }
  store_.mended = {sha256};
  ViewMender mender(store_, *storage_);
  ASSERT_OK(mender.Mend(snapshot));
  auto latest = ReadLatest();
  EXPECT_EQ(latest["Tower/a"], "good.");
  EXPECT_EQ(latest["Tower/b"], "bad");
  EXPECT_EQ(latest["Tower/c"], "good.");
  EXPECT_THAT(store_.mended, IsEmpty());
}

TEST_F(DamageTest, WhatTheViewCouldNotShowStaysRemembered) {
  const std::string sha256 = Sha256Hex("no such blob");
  storage::format::Snapshot snapshot;
  auto writer = *storage::format::ManifestWriter::Create(*storage_);
  storage::format::ManifestEntry entry;
  entry.project_id = "b.1";
  entry.stored_path = "a";
  entry.sha256 = sha256;
  ASSERT_OK(writer->Append(entry));
  snapshot.projects.emplace_back().manifest_sha256 = *writer->Commit();
  store_.mended = {sha256};
  ViewMender mender(store_, *storage_);
  EXPECT_THAT(mender.Mend(snapshot), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_.mended, ElementsAre(sha256));
}

}  // namespace
}  // namespace bimbackup::snapshot
