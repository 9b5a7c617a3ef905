#include "services/coordinator/retention/sweeper.h"

#include <filesystem>
#include <functional>

#include "services/coordinator/retention/retention_fixture.h"
#include "services/coordinator/snapshot/fake_tree_store.h"

namespace bimbackup::retention {
namespace {

using absl_testing::StatusIs;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Needs what a test says, and remembers what it forgot.
class FakeSweepStore : public catalog::SweepStore {
 public:
  absl::StatusOr<std::vector<std::string>> ListNeeded(
      const std::vector<std::string>& sha256s) override {
    std::vector<std::string> found;
    for (const std::string& sha256 : sha256s) {
      if (needed.contains(sha256)) found.push_back(sha256);
    }
    return found;
  }
  absl::StatusOr<std::vector<std::string>> ForgetUnneeded(
      const std::vector<std::string>& sha256s) override {
    if (on_forget) on_forget();
    for (const std::string& sha256 : sha256s) {
      if (!needed.contains(sha256)) forgotten.insert(sha256);
    }
    return ListNeeded(sha256s);
  }

  std::set<std::string> needed;
  std::set<std::string> forgotten;
  std::function<void()> on_forget;
};

class SweeperTest : public RetentionTest {
 protected:
  absl::Status Sweep(const Sweeper::Options& options = {}) {
    Sweeper::Options given = options;
    given.scratch_folder = folder_.path();
    Sweeper sweeper(
        *storage_, tree_, store_, gates_, [this] { return running_since_; },
        given);
    const absl::Status status =
        sweeper.Run([this](const SweepCounts&) { return --reports_left_ > 0; });
    swept_ = sweeper.counts();
    return status;
  }

  snapshot::FakeTreeStore tree_;
  FakeSweepStore store_;
  catalog::SweepGates gates_;
  std::optional<absl::Time> running_since_;
  int reports_left_ = 1'000'000;
  SweepCounts swept_;
};

TEST_F(SweeperTest, RemovesWhatNobodyNamesAndNothingElse) {
  Snapshot(1, {{"p1", {"a", "b"}}, {"p2", {"c"}}});
  Snapshot(2, {{"p1", {"a", "d"}}, {"p2", {"c"}}});
  Manifest("p1", {"old"});
  Blob("orphan");
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a", "b", "c", "d"}));
  EXPECT_THAT(Manifests(), SizeIs(3));
  EXPECT_EQ(swept_, (SweepCounts{1, 2, 9, 0}));
  EXPECT_EQ(store_.forgotten, Digests({"old", "orphan"}));
  // And nothing is left to do.
  ASSERT_OK(Sweep());
  EXPECT_EQ(swept_, SweepCounts());
}

TEST_F(SweeperTest, DryRunCountsTheSameAndRemovesNothing) {
  const std::string first = Snapshot(1, {{"p1", {"a", "b"}}});
  Snapshot(2, {{"p1", {"a", "d"}}});
  Blob("orphan");
  store_.needed = Digests({"b"});
  Sweeper::Options options;
  options.dry_run = true;
  options.without = {first};
  ASSERT_OK(Sweep(options));
  EXPECT_EQ(swept_, (SweepCounts{1, 1, 6, 1}));
  EXPECT_EQ(Blobs(), Digests({"a", "b", "d", "orphan"}));
  EXPECT_THAT(Manifests(), SizeIs(2));
  EXPECT_THAT(store_.forgotten, IsEmpty());
  ASSERT_OK(storage_->RemoveObject(storage::format::SnapshotKey(first)));
  ASSERT_OK(Sweep());
  EXPECT_EQ(swept_, (SweepCounts{1, 1, 6, 1}));
  EXPECT_EQ(Blobs(), Digests({"a", "b", "d"}));
}

TEST_F(SweeperTest, WhatTheCatalogNamesStays) {
  Snapshot(1, {{"p1", {"a"}}});
  tree_.AddProject("p1", "p1").manifest_sha256 = Manifest("p1", {"newest"});
  tree_.shown["p2"] = {"p2", Manifest("p2", {"shown"}),
                       Manifest("p2", {"to show"})};
  tree_.shown[""] = {"", "known", "-"};
  Blob("needed");
  store_.needed = Digests({"needed"});
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a", "newest", "shown", "to show", "needed"}));
  EXPECT_THAT(Manifests(), SizeIs(4));
  EXPECT_EQ(swept_, (SweepCounts{0, 0, 0, 1}));
}

TEST_F(SweeperTest, WhatIsYoungerThanTheRunningBackupStays) {
  Snapshot(1, {{"p1", {"a"}}});
  Blob("fresh");
  running_since_ = absl::Now() - absl::Minutes(5);
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a", "fresh"}));
  EXPECT_EQ(swept_.blobs_kept, 1);
  // It was there long before, as far as two clocks can tell.
  running_since_ = absl::Now() + absl::Hours(2);
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a"}));
}

TEST_F(SweeperTest, ASnapshotThatIsWrittenMeanwhileKeepsItsBlobs) {
  Snapshot(1, {{"p1", {"a"}}});
  for (int i = 0; i < 40; ++i) Blob(absl::StrCat("orphan ", i));
  // The last of them all, so that others were removed before it.
  const std::string adopted = *Blobs().rbegin();
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string orphan = absl::StrCat("orphan ", i);
    if (Sha256Hex(orphan) == adopted) text = orphan;
  }
  ASSERT_NE(text, "");
  store_.on_forget = [&] {
    store_.on_forget = nullptr;
    Snapshot(2, {{"p1", {"a", text}}});
    ++gates_.snapshots_written;
  };
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a", text}));
  EXPECT_THAT(Manifests(), SizeIs(2));
  EXPECT_EQ(swept_.blobs_removed, 39);
}

TEST_F(SweeperTest, AManifestThatCannotBeReadStopsTheSweepOfBlobs) {
  Snapshot(1, {{"p1", {"a"}}, {"p2", {"b"}}});
  Blob("orphan");
  for (const bool missing : {false, true}) {
    const std::string key = storage::format::ManifestKey(Manifest("p2", {"b"}));
    Damage(key);
    if (missing) std::filesystem::remove(PathOf(key));
    EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                  HasSubstr("snapshots/20260101T")));
    EXPECT_EQ(Blobs(), Digests({"a", "b", "orphan"}));
  }
}

TEST_F(SweeperTest, ASnapshotThatCannotBeReadStopsEverything) {
  Snapshot(1, {{"p1", {"a"}}});
  Damage(storage::format::SnapshotKey(Snapshot(2, {{"p1", {"b"}}})));
  Manifest("p3", {"orphan"});
  EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                HasSubstr("forget it by its name")));
  EXPECT_THAT(Manifests(), SizeIs(3));
  EXPECT_EQ(Blobs(), Digests({"a", "b", "orphan"}));
}

TEST_F(SweeperTest, NothingIsSweptWhereThereIsNoSnapshot) {
  Manifest("p1", {"a"});
  EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(Blobs(), Digests({"a"}));
  EXPECT_THAT(Manifests(), SizeIs(1));
}

TEST_F(SweeperTest, AStorageThatIsNotOursAnyMoreIsLeftAlone) {
  Snapshot(1, {{"p1", {"a"}}});
  for (int i = 0; i < 40; ++i) Blob(absl::StrCat("orphan ", i));
  store_.on_forget = [&] { std::filesystem::remove(PathOf("bimbackup.json")); };
  EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kFailedPrecondition));
  // One batch had begun.
  EXPECT_GT(Blobs().size(), 40 - 16);
  const size_t left = Blobs().size();
  EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Blobs(), SizeIs(left));
}

TEST_F(SweeperTest, EndsWhenItsCallerHasGoneAndGoesOnTheNextTime) {
  Snapshot(1, {{"p1", {"a"}}});
  for (int i = 0; i < 40; ++i) Blob(absl::StrCat("orphan ", i));
  for (const int reports : {1, 2, 3, 4}) {
    reports_left_ = reports;
    EXPECT_THAT(Sweep(), StatusIs(absl::StatusCode::kCancelled));
  }
  reports_left_ = 1'000'000;
  ASSERT_OK(Sweep());
  EXPECT_EQ(Blobs(), Digests({"a"}));
}

TEST_F(SweeperTest, FilesThatAreNotOursStay) {
  Snapshot(1, {{"p1", {"a"}}});
  storage::WriteWholeFile(PathOf("blobs/sha256/abc/notes.txt"), "mine");
  storage::WriteWholeFile(PathOf("blobs/sha256/abc/" + Sha256Hex("a")), "mine");
  ASSERT_OK(Sweep());
  EXPECT_TRUE(Blobs().contains("notes.txt"));
  EXPECT_EQ(swept_, SweepCounts());
}

}  // namespace
}  // namespace bimbackup::retention
