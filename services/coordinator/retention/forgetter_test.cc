#include "services/coordinator/retention/forgetter.h"

#include <functional>

#include "services/common/fake_clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/sqlite_catalog.h"
#include "services/coordinator/retention/retention_fixture.h"

namespace bimbackup::retention {
namespace {

using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Remembers what it was told.
class Observer : public ForgetObserver {
 public:
  void OnDecisions(const std::vector<Decision>& made) override {
    decisions = made;
    if (on_decisions) on_decisions();
  }
  void OnProgress(const ForgetProgress& now) override { progress = now; }
  bool Cancelled() override { return cancelled; }

  std::vector<std::string> Kept() const {
    std::vector<std::string> ids;
    for (const Decision& decision : decisions) {
      if (decision.kept) ids.push_back(decision.row.head.id);
    }
    return ids;
  }

  std::vector<Decision> decisions;
  ForgetProgress progress;
  bool cancelled = false;
  std::function<void()> on_decisions;
};

class ForgetterTest : public RetentionTest {
 protected:
  ForgetterTest() {
    catalog::SqliteCatalogOptions options;
    options.state_dir = folder_ / "state";
    catalog_ = *catalog::SqliteCatalog::Open(options, clock_, random_);
    forgetter_ = std::make_unique<Forgetter>(*storage_, *catalog_, gates_,
                                             clock_, options.state_dir);
  }

  ForgetRequest KeepLast(int count) {
    ForgetRequest request;
    request.policy.last = count;
    return request;
  }
  std::set<std::string> Snapshots() { return List("snapshots/"); }

  FakeClock clock_{
      absl::FromCivil(absl::CivilDay(2026, 2, 1), absl::UTCTimeZone())};
  SeededRandom random_{1};
  std::unique_ptr<catalog::Catalog> catalog_;
  catalog::SweepGates gates_;
  std::unique_ptr<Forgetter> forgetter_;
  Observer observer_;
};

TEST_F(ForgetterTest, ForgetsAndSweeps) {
  Snapshot(1, {{"p1", {"a", "b"}}});
  const std::string second = Snapshot(2, {{"p1", {"b", "c"}}});
  const std::string third = Snapshot(3, {{"p1", {"c", "d"}}});
  ASSERT_OK(forgetter_->Forget(KeepLast(2), observer_));
  EXPECT_THAT(Snapshots(), ElementsAre(second + ".json", third + ".json"));
  EXPECT_EQ(Blobs(), Digests({"b", "c", "d"}));
  EXPECT_THAT(Manifests(), SizeIs(2));
  EXPECT_EQ(observer_.progress.snapshots_removed, 1);
  EXPECT_EQ(observer_.progress.sweep, (SweepCounts{1, 1, 1, 0}));
}

TEST_F(ForgetterTest, DryRunTellsWhatWouldBeAndRemovesNothing) {
  Snapshot(1, {{"p1", {"a", "b"}}});
  Snapshot(2, {{"p1", {"b", "c"}}});
  ForgetRequest request = KeepLast(1);
  request.dry_run = true;
  Observer dry;
  ASSERT_OK(forgetter_->Forget(request, dry));
  EXPECT_THAT(Snapshots(), SizeIs(2));
  EXPECT_EQ(Blobs(), Digests({"a", "b", "c"}));
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_EQ(dry.Kept(), observer_.Kept());
  EXPECT_EQ(dry.progress.snapshots_removed, 1);
  EXPECT_EQ(dry.progress.snapshots_removed,
            observer_.progress.snapshots_removed);
  EXPECT_EQ(dry.progress.sweep, observer_.progress.sweep);
}

TEST_F(ForgetterTest, AProtectedSnapshotStaysUntilItIsNot) {
  const std::string first = Snapshot(1, {{"p1", {"a"}}});
  Snapshot(2, {{"p1", {"b"}}});
  ASSERT_OK_AND_ASSIGN(const SnapshotRow row, forgetter_->Protect(first, true));
  EXPECT_TRUE(row.is_protected);
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_THAT(observer_.Kept(), SizeIs(2));
  EXPECT_EQ(Blobs(), Digests({"a", "b"}));
  ASSERT_OK(forgetter_->Protect(first, false));
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_EQ(Blobs(), Digests({"b"}));
}

TEST_F(ForgetterTest, OneThatIsProtectedAfterTheDecisionStays) {
  const std::string first = Snapshot(1, {{"p1", {"a"}}});
  Snapshot(2, {{"p1", {"b"}}});
  observer_.on_decisions = [&] {
    ASSERT_OK(forgetter_->Protect(first, true).status());
  };
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_EQ(observer_.progress.snapshots_removed, 0);
  EXPECT_EQ(Blobs(), Digests({"a", "b"}));
}

TEST_F(ForgetterTest, ProtectingWhatIsNotThere) {
  EXPECT_THAT(forgetter_->Protect("-", true),
              StatusIs(absl::StatusCode::kNotFound));
  const std::string newest = Snapshot(1, {{"p1", {"a"}}});
  EXPECT_THAT(forgetter_->Protect("20200101T000000Z-00000000", true),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK_AND_ASSIGN(const SnapshotRow row, forgetter_->Protect("-", true));
  EXPECT_EQ(row.head.id, newest);
}

TEST_F(ForgetterTest, TheLastCopyOfAGuardedProjectStaysWhileItIsKnown) {
  // "p2" vanished, is guarded, and for some reason in no newer snapshot.
  Snapshot(1, {{"p1", {"a"}}, {"p2", {"b"}}});
  const std::string guarded =
      Snapshot(2, {{"p1", {"a"}}, {"p2", {"b"}}}, /*guarded=*/true);
  const std::string newest = Snapshot(3, {{"p1", {"a"}}});
  ASSERT_OK_AND_ASSIGN(const catalog::BackupRecord backup,
                       catalog_->CreateBackup({}));
  ASSERT_OK(catalog_->BeginCrawl(backup.number, nullptr));
  ASSERT_OK_AND_ASSIGN(const auto tasks, catalog_->TakeTasks(1));
  ASSERT_OK(catalog_->CommitProjectPage(
      backup.number, tasks[0], {{"p2", "p2", "ACC", "root"}}, {true}, "", ""));
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_THAT(observer_.Kept(), ElementsAre(newest, guarded));
  EXPECT_EQ(observer_.decisions[1].reasons,
            std::vector<std::string>{"guarded"});
  EXPECT_EQ(Blobs(), Digests({"a", "b"}));
}

TEST_F(ForgetterTest, AnAcceptedOneGoes) {
  Snapshot(1, {{"p1", {"a"}}, {"p2", {"b"}}}, /*guarded=*/true);
  const std::string newest = Snapshot(2, {{"p1", {"a"}}});
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_THAT(observer_.Kept(), ElementsAre(newest));
  EXPECT_EQ(Blobs(), Digests({"a"}));
}

TEST_F(ForgetterTest, ATornSnapshotCanBeForgottenByItsName) {
  Snapshot(1, {{"p1", {"a"}}});
  const std::string torn = Snapshot(2, {{"p1", {"b"}}});
  Damage(storage::format::SnapshotKey(torn));
  EXPECT_THAT(forgetter_->Forget(KeepLast(1), observer_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("forget it by its name")));
  EXPECT_EQ(Blobs(), Digests({"a", "b"}));
  ForgetRequest named;
  named.ids = {torn};
  ASSERT_OK(forgetter_->Forget(named, observer_));
  EXPECT_EQ(Blobs(), Digests({"a"}));
}

TEST_F(ForgetterTest, SweepOnlyEndsWhatWasInterrupted) {
  Snapshot(1, {{"p1", {"a"}}});
  Snapshot(2, {{"p1", {"b"}}});
  observer_.on_decisions = [&] { observer_.cancelled = true; };
  EXPECT_THAT(forgetter_->Forget(KeepLast(1), observer_),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(Snapshots(), SizeIs(2));
  ASSERT_OK(storage_->RemoveObject("snapshots/20260101T000000Z-00000000.json"));
  Observer sweeper;
  ForgetRequest sweep;
  sweep.sweep_only = true;
  ASSERT_OK(forgetter_->Forget(sweep, sweeper));
  EXPECT_EQ(Blobs(), Digests({"b"}));
  EXPECT_EQ(sweeper.progress.snapshots_removed, 0);
}

TEST_F(ForgetterTest, RunsOneAtATime) {
  Snapshot(1, {{"p1", {"a"}}});
  absl::Status second;
  Observer other;
  observer_.on_decisions = [&] {
    second = forgetter_->Forget(KeepLast(1), other);
  };
  ASSERT_OK(forgetter_->Forget(KeepLast(1), observer_));
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kAborted));
  ASSERT_OK(forgetter_->Forget(KeepLast(1), other));
}

TEST_F(ForgetterTest, BadRequestsChangeNothing) {
  Snapshot(1, {{"p1", {"a"}}});
  EXPECT_THAT(forgetter_->Forget({}, observer_),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(observer_.decisions, IsEmpty());
  EXPECT_THAT(Snapshots(), SizeIs(1));
}

}  // namespace
}  // namespace bimbackup::retention
