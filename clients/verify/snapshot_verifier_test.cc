#include "clients/verify/snapshot_verifier.h"

#include <cmath>
#include <set>

#include "clients/verify/verify_fixture.h"

namespace bimbackup::verify {
namespace {

using ::absl_testing::StatusIs;
using storage::StorageCall;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Numbered(int count) {
  std::vector<std::string> contents;
  for (int i = 0; i < count; ++i) {
    contents.push_back(absl::StrCat("content number ", i));
  }
  return contents;
}

TEST_F(VerifyTest, AWholeSnapshotIsCleanAndEachBlobIsReadOnce) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two", "one"}),
                     MakeProject("Bridge", {"two", "three"})});
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify());
  EXPECT_THAT(observer_.damage, IsEmpty());
  EXPECT_EQ(progress.snapshot_id, "1");
  EXPECT_EQ(progress.manifests_done, 2);
  EXPECT_EQ(progress.manifests, 2);
  EXPECT_EQ(progress.blobs_checked, 3);
  EXPECT_EQ(progress.blobs_read, 3);
  EXPECT_EQ(progress.bytes_read, 11);
  EXPECT_EQ(progress.bytes_to_read, 11);
  EXPECT_EQ(observer_.progress.back().blobs_checked, 3);
}

TEST_F(VerifyTest, AFlippedBitIsFoundAndNamed) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two", "one"})});
  Overwrite(BlobPath("one"), "onf");
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify());
  EXPECT_EQ(progress.damaged, 1);
  ASSERT_THAT(observer_.damage, SizeIs(1));
  const Damage& damage = observer_.damage[0];
  EXPECT_EQ(damage.kind, DamageKind::kWrongDigest);
  EXPECT_EQ(damage.sha256, Sha256Hex("one"));
  EXPECT_THAT(damage.key, HasSubstr("blobs/sha256/"));
  EXPECT_EQ(damage.project_id, "id-Tower");
  EXPECT_EQ(damage.project_name, "Tower");
  EXPECT_THAT(damage.path, ElementsAre("Plans", "file-1000"));
  EXPECT_EQ(damage.item_id, "item-0");
  EXPECT_EQ(damage.storage_urn, "urn:Tower:0");
  EXPECT_EQ(damage.size, 3);
  EXPECT_EQ(damage.files, 2);
}

TEST_F(VerifyTest, AFileOfTheLatestViewEditedThroughItsHardLinkIsFound) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two"})});
  const auto view = local_->OpenLatestView();
  if (!view.ok()) GTEST_SKIP() << view.status();
  ASSERT_OK((*view)->PutFile("Tower/file", Sha256Hex("two"),
                             absl::FromUnixSeconds(1.7e9)));
  Overwrite(folder_ / "latest/Tower/file", "TWO");
  ASSERT_OK(Verify());
  ASSERT_THAT(observer_.damage, SizeIs(1));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kWrongDigest);
  EXPECT_EQ(observer_.damage[0].sha256, Sha256Hex("two"));
}

TEST_F(VerifyTest, TruncatedAndMissingBlobsAreFoundWithoutReading) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "three", "four"})});
  std::filesystem::resize_file(BlobPath("three"), 2);
  std::filesystem::remove(BlobPath("four"));
  VerifyOptions options;
  options.percent = 1e-9;
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify(options));
  EXPECT_EQ(progress.blobs_checked, 3);
  EXPECT_EQ(progress.blobs_read, 0);
  ASSERT_THAT(observer_.damage, SizeIs(2));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kWrongSize);
  EXPECT_EQ(observer_.damage[0].message, "it has 2 bytes instead of 5");
  EXPECT_EQ(observer_.damage[1].kind, DamageKind::kMissingBlob);
}

TEST_F(VerifyTest, TornAndMissingManifestsAreFoundAndTheOthersGoneOnWith) {
  const auto torn = MakeProject("Torn", {"one"});
  const auto lost = MakeProject("Lost", {"two"});
  MakeSnapshot("1", {torn, lost, MakeProject("Whole", {"three"})});
  std::filesystem::resize_file(ManifestPath(torn), 20);
  std::filesystem::remove(ManifestPath(lost));
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify());
  EXPECT_EQ(progress.manifests_done, 3);
  EXPECT_EQ(progress.blobs_checked, 1);
  ASSERT_THAT(observer_.damage, SizeIs(2));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kManifest);
  EXPECT_EQ(observer_.damage[0].project_name, "Torn");
  EXPECT_EQ(observer_.damage[0].sha256, torn.manifest_sha256);
  EXPECT_EQ(observer_.damage[1].kind, DamageKind::kManifest);
  EXPECT_EQ(observer_.damage[1].message, "the manifest is not there");
}

TEST_F(VerifyTest, NoByteOfAManifestCanChangeUnnoticed) {
  const auto project = MakeProject("Tower", {"one", "two"});
  MakeSnapshot("1", {project});
  const std::string good = storage::ReadWholeFile(ManifestPath(project));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 0x10;
    Overwrite(ManifestPath(project), bad);
    ASSERT_OK(Verify());
    // A bit may lie where zstd says nothing of the content.
    if (observer_.damage.empty()) {
      EXPECT_LT(i, 18) << "byte " << i << " of " << good.size();
    }
  }
}

TEST_F(VerifyTest, ATornSnapshotFileIsFound) {
  MakeSnapshot("1", {MakeProject("Tower", {"one"})});
  std::filesystem::resize_file(folder_ / "snapshots/1.json", 40);
  ASSERT_OK(Verify());
  ASSERT_THAT(observer_.damage, SizeIs(1));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kSnapshot);
  EXPECT_EQ(observer_.damage[0].key, "snapshots/1.json");
}

TEST_F(VerifyTest, ASnapshotFileThatCountsOtherwiseIsFound) {
  auto project = MakeProject("Tower", {"one"});
  ++project.counts.files;
  MakeSnapshot("1", {project});
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify());
  ASSERT_THAT(observer_.damage, SizeIs(1));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kSnapshot);
  EXPECT_EQ(progress.blobs_checked, 1);
}

TEST_F(VerifyTest, TheNewestSnapshotStandsForADash) {
  MakeSnapshot("20260101", {MakeProject("Tower", {"one"})});
  MakeSnapshot("20260102", {MakeProject("Tower", {"one", "two"})});
  ASSERT_OK_AND_ASSIGN(VerifyProgress progress, Verify());
  EXPECT_EQ(progress.blobs_checked, 2);
  ASSERT_OK_AND_ASSIGN(progress, Verify({}, "20260101"));
  EXPECT_EQ(progress.blobs_checked, 1);
  EXPECT_THAT(Verify({}, "20260103"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(VerifyTest, WithoutSnapshotsThereIsNothingToVerify) {
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(VerifyTest, OptionsOutOfRangeAreRefused) {
  MakeSnapshot("1", {MakeProject("Tower", {"one"})});
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Verify({.part = 0}), refused);
  EXPECT_THAT(Verify({.part = 3, .parts = 2}), refused);
  EXPECT_THAT(Verify({.parts = 0}), refused);
  EXPECT_THAT(Verify({.percent = 0}), refused);
  EXPECT_THAT(Verify({.percent = 101}), refused);
  EXPECT_THAT(Verify({.percent = std::nan("")}), refused);
  EXPECT_THAT(Verify({.max_bandwidth = -1}), refused);
}

TEST_F(VerifyTest, AllPartsTogetherReadEveryBlobOnce) {
  constexpr int kBlobs = 200;
  constexpr int64_t kParts = 7;
  MakeSnapshot("1", {MakeProject("Tower", Numbered(kBlobs))});
  int64_t read = 0;
  for (int64_t part = 1; part <= kParts; ++part) {
    ASSERT_OK_AND_ASSIGN(const VerifyProgress progress,
                         Verify({.part = part, .parts = kParts}));
    EXPECT_EQ(progress.blobs_checked, kBlobs);
    EXPECT_GT(progress.blobs_read, 0);
    EXPECT_LT(progress.blobs_read, kBlobs / 2);
    EXPECT_EQ(progress.bytes_read, progress.bytes_to_read);
    read += progress.blobs_read;
  }
  EXPECT_EQ(read, kBlobs);
}

TEST_F(VerifyTest, APercentageReadsAnotherShareEachTime) {
  constexpr int kBlobs = 400;
  const std::vector<std::string> contents = Numbered(kBlobs);
  MakeSnapshot("1", {MakeProject("Tower", contents)});
  for (const std::string& content : contents) {
    Overwrite(BlobPath(content), std::string(content.size(), 'x'));
  }
  std::set<std::string> found;
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(Verify({.percent = 10}));
    EXPECT_NEAR(observer_.damage.size(), kBlobs / 10, 30);
    for (const Damage& damage : observer_.damage) found.insert(damage.sha256);
  }
  EXPECT_GT(found.size(), kBlobs / 10 + 10);
}

TEST_F(VerifyTest, ASnapshotLargerThanMemoryIsGoneThroughInShares) {
  MakeSnapshot("1", {MakeProject("Tower", Numbered(60)),
                     MakeProject("Bridge", Numbered(30))});
  std::filesystem::remove(BlobPath(Numbered(60)[5]));
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress,
                       Verify({.max_blobs_in_memory = 8}));
  EXPECT_EQ(progress.blobs_checked, 60);
  EXPECT_EQ(progress.bytes_read,
            progress.bytes_to_read - int64_t(Numbered(60)[5].size()));
  ASSERT_THAT(observer_.damage, SizeIs(1));
  EXPECT_EQ(observer_.damage[0].files, 2);
}

TEST_F(VerifyTest, NoMoreIsReadThanTheBandwidthAllows) {
  MakeSnapshot("1", {MakeProject("Tower", {std::string(300'000, 'x')})});
  const absl::Duration start = clock_.Monotonic();
  observer_.cancelled = [this] {
    clock_.Advance(absl::Milliseconds(100));
    return false;
  };
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress,
                       Verify({.max_bandwidth = 100'000}));
  EXPECT_EQ(progress.bytes_read, 300'000);
  EXPECT_GE(clock_.Monotonic() - start, absl::Seconds(3));
  EXPECT_LE(clock_.Monotonic() - start, absl::Seconds(4));
}

TEST_F(VerifyTest, CancellationEndsItWhileItWaitsForBandwidth) {
  MakeSnapshot("1", {MakeProject("Tower", {std::string(300'000, 'x')})});
  observer_.cancelled = [this] {
    clock_.Advance(absl::Milliseconds(100));
    return !observer_.progress.empty() &&
           observer_.progress.back().bytes_read > 0;
  };
  EXPECT_THAT(Verify({.max_bandwidth = 10}),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(VerifyTest, AnErrorOfTheObserverEndsIt) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two"})});
  for (const char* bytes : {"one", "two"}) {
    std::filesystem::remove(BlobPath(bytes));
  }
  observer_.damage_status = absl::InternalError("enough");
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(observer_.damage, SizeIs(1));
}

TEST_F(VerifyTest, WhatVanishedWithItsStorageIsNotDamage) {
  MakeSnapshot("1", {MakeProject("Tower", Numbered(20))});
  const auto gone = absl::UnavailableError("gone");
  storage_->faults().Fail(StorageCall::kReadBlob, gone, /*after=*/10);
  storage_->faults().Fail(StorageCall::kCheckMarker,
                          absl::FailedPreconditionError("is it mounted?"));
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("mounted")));
  EXPECT_THAT(observer_.damage, IsEmpty());

  storage_->faults().Clear();
  for (const auto& entry :
       std::filesystem::directory_iterator(folder_ / "blobs/sha256")) {
    std::filesystem::remove_all(entry.path());
  }
  storage_->faults().Fail(StorageCall::kCheckMarker,
                          absl::FailedPreconditionError("is it mounted?"));
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(observer_.damage, IsEmpty());
}

TEST_F(VerifyTest, AnUnreadableBlobIsDamageWhereTheStorageStands) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two", "three"})});
  storage_->faults().Fail(StorageCall::kReadBlob,
                          absl::UnavailableError("bad sector"), /*after=*/1,
                          /*times=*/1);
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress, Verify());
  EXPECT_EQ(progress.blobs_checked, 3);
  ASSERT_THAT(observer_.damage, SizeIs(1));
  EXPECT_EQ(observer_.damage[0].kind, DamageKind::kUnreadableBlob);
  EXPECT_THAT(observer_.damage[0].message, HasSubstr("bad sector"));
}

TEST_F(VerifyTest, WhereNothingCanBeReadItIsTheStorage) {
  MakeSnapshot("1", {MakeProject("Tower", Numbered(300))});
  storage_->faults().Fail(StorageCall::kReadBlob,
                          absl::UnavailableError("input/output error"));
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kUnavailable,
                                 HasSubstr("input/output error")));
  EXPECT_LT(observer_.damage.size(), 100);
}

TEST_F(VerifyTest, ASnapshotForgottenMeanwhileIsNotDamaged) {
  MakeSnapshot("1", {MakeProject("Tower", Numbered(2000))});
  observer_.cancelled = [this] {
    clock_.Advance(absl::Seconds(1));
    const bool began = !observer_.progress.empty() &&
                       observer_.progress.back().blobs_checked > 0;
    if (began) {
      EXPECT_OK(local_->RemoveObject("snapshots/1.json"));
      for (const std::string& bytes : Numbered(2000)) {
        std::filesystem::remove(BlobPath(bytes));
      }
    }
    return false;
  };
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(observer_.damage, IsEmpty());
}

TEST_F(VerifyTest, WhatIsLeftOfAStorageIsVerifiedReadOnly) {
  MakeSnapshot("1", {MakeProject("Tower", {"one", "two"})});
  std::filesystem::remove(folder_ / "bimbackup.json");
  std::filesystem::remove(BlobPath("two"));
  storage::OpenOptions options;
  options.url = folder_.path();
  options.read_only = true;
  ASSERT_OK_AND_ASSIGN(const auto reading, storage::OpenStorage(options));
  SnapshotVerifier verifier(*reading, clock_, random_);
  ASSERT_OK_AND_ASSIGN(const VerifyProgress progress,
                       verifier.Verify("1", {}, observer_));
  EXPECT_EQ(progress.damaged, 1);
}

}  // namespace
}  // namespace bimbackup::verify
