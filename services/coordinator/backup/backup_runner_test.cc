#include "services/coordinator/backup/backup_runner.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/bim360/fake_bim360_client.h"
#include "clients/http/host_policy.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/random.h"
#include "services/common/status_macros.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/sqlite_catalog.h"
#include "services/coordinator/catalog/sqlite_database.h"
#include "services/coordinator/lease/fake_blobs.h"

namespace bimbackup::backup {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using bim360::FakeBim360Client;
using catalog::BackupState;
using testing::HasSubstr;

// The machine's clock, set forward on demand; knows who waits on it.
class TestClock : public SystemClock {
 public:
  absl::Duration Monotonic() const override {
    return SystemClock::Monotonic() + absl::Hours(hours_ahead.load());
  }
  bool WaitUntil(Mutex& mutex, CondVar& condition,
                 absl::Duration deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (std::this_thread::get_id() == watched.load()) watched_waits = true;
    return SystemClock::WaitUntil(mutex, condition, deadline);
  }

  std::atomic<int> hours_ahead = 0;
  std::atomic<std::thread::id> watched;
  std::atomic<bool> watched_waits = false;
};

// Leaves snapshots that only the catalog knows.
class FakeSnapshotStep : public SnapshotStep {
 public:
  explicit FakeSnapshotStep(catalog::TreeStore& tree) : tree_(tree) {}

  absl::Status WriteSnapshot(const catalog::BackupRecord& backup,
                             BackupState) override {
    if (on_write) on_write();
    if (failures_left > 0) {
      --failures_left;
      return absl::ResourceExhaustedError("no space left");
    }
    ABSL_RETURN_IF_ERROR(write_status);
    return tree_.SetSnapshot(backup.number, backup.id);
  }
  absl::Status UpdateLatest(const catalog::BackupRecord&) override {
    return latest_status;
  }

  // Set before a run.
  std::function<void()> on_write;
  int failures_left = 0;
  absl::Status write_status;
  absl::Status latest_status;

 private:
  catalog::TreeStore& tree_;
};

// A runner over a real catalog, an account in memory and a worker that
// stores whatever it is granted.
class BackupRunnerTest : public testing::Test {
 protected:
  BackupRunnerTest() {
    client_.AddProject({"b.p1", "Tower", "ACC", ""});
    folder_id_ = client_.AddFolder("b.p1", "Plans");
    for (int i = 0; i < 5; ++i) {
      client_.AddFile(folder_id_, "f" + std::to_string(i), 100);
    }
    options_.hub_id = FakeBim360Client::kHubId;
    options_.client_id = "client";
    options_.recheck_budget = absl::ZeroDuration();
    auto catalog =
        catalog::SqliteCatalog::Open(CatalogOptions(), clock_, random_);
    EXPECT_OK(catalog);
    catalog_ = *std::move(catalog);
    snapshot_ = std::make_unique<FakeSnapshotStep>(*catalog_);
  }
  ~BackupRunnerTest() override {
    if (runner_ == nullptr) return;
    runner_->Stop();
    pool_->Stop();
  }
  void SetUp() override { StartRunner(); }

  catalog::SqliteCatalogOptions CatalogOptions() {
    catalog::SqliteCatalogOptions options;
    options.state_dir = state_.path();
    return options;
  }

  void StartRunner() {
    pool_ = std::make_unique<lease::LeasePool>(*catalog_, blobs_, client_,
                                               hosts_, clock_, random_);
    runner_ =
        std::make_unique<BackupRunner>(*catalog_, client_, limiter_, blobs_,
                                       *pool_, *snapshot_, clock_, options_);
    ASSERT_OK(pool_->Start());
    ASSERT_OK(runner_->Start());
  }
  // One exchange of a worker that holds nothing between two of them.
  void Work(std::vector<lease::TransferResult>& results) {
    lease::WorkerReport report;
    report.worker_id = "w";
    report.free_slots = 8;
    report.results = std::exchange(results, {});
    Mutex mutex;
    CondVar changed;
    bool done = false;
    pool_->Synchronize(std::move(report),
                       [&](absl::StatusOr<lease::SynchronizeAnswer> answer) {
                         MutexLock lock(mutex);
                         if (answer.ok()) {
                           for (const auto& lease : answer->granted)
                             Store(lease, results);
                         }
                         done = true;
                         changed.NotifyAll();
                       });
    MutexLock lock(mutex);
    while (!done) changed.Wait(mutex);
  }

  void Store(const lease::GrantedLease& lease,
             std::vector<lease::TransferResult>& results) {
    lease::TransferResult result;
    result.transfer_id = lease.transfer.transfer_id;
    result.epoch = lease.epoch;
    result.outcome = lease::Outcome::kStored;
    result.sha256 = Sha256Hex(lease.transfer.storage_urn);
    result.size = 100;
    blobs_.Put(result.sha256, result.size);
    results.push_back(result);
  }

  // Works until the newest backup has ended, or `patience` is over.
  BackupView WorkUntilEnd() {
    std::vector<lease::TransferResult> results;
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    while (absl::Now() < deadline) {
      const auto view = runner_->GetBackup("-");
      if (view.ok() && catalog::HasEnded(view->record.state)) return *view;
      Work(results);
    }
    ADD_FAILURE() << "the backup does not end";
    return {};
  }

  BackupView Run(const catalog::BackupRequest& request = {}) {
    EXPECT_OK(runner_->StartBackup(request));
    return WorkUntilEnd();
  }

  TestClock clock_;
  SeededRandom random_{1};
  storage::TempFolder state_;
  lease::FakeBlobs blobs_;
  FakeBim360Client client_;
  bim360::ApiLimiter limiter_{1, clock_};
  http::HostPolicy hosts_ = *http::HostPolicy::Parse("storage.invalid");
  BackupOptions options_;
  std::string folder_id_;
  std::unique_ptr<catalog::Catalog> catalog_;
  std::unique_ptr<FakeSnapshotStep> snapshot_;
  std::unique_ptr<lease::LeasePool> pool_;
  std::unique_ptr<BackupRunner> runner_;
};

TEST_F(BackupRunnerTest, EndsSucceededWithASnapshot) {
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
  EXPECT_EQ(view.record.counters.transfers_stored, 5);
  EXPECT_EQ(view.record.snapshot_id, view.record.id);
  EXPECT_EQ(view.totals.files, 5);
}

TEST_F(BackupRunnerTest, EndsPartialWhenAFileIsForbidden) {
  client_.FailNext(FakeBim360Client::Call::kSignDownload, "",
                   absl::PermissionDeniedError("403"), 1);
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kPartial);
  EXPECT_THAT(view.record.message, HasSubstr("1 file could not be fetched"));
  EXPECT_NE(view.record.snapshot_id, "");
  const BackupView next = Run();
  EXPECT_EQ(next.record.state, BackupState::kSucceeded) << next.record.message;
  EXPECT_EQ(next.record.counters.transfers_stored, 1);
}

TEST_F(BackupRunnerTest, EndsFailedWhenProjectsCannotBeListed) {
  client_.FailNext(FakeBim360Client::Call::kListProjects, "",
                   absl::UnavailableError("HTTP 503"), -1);
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kFailed);
  EXPECT_EQ(view.record.snapshot_id, "");
}

TEST_F(BackupRunnerTest, EndsFailedWithoutASnapshotFile) {
  snapshot_->write_status = absl::InternalError("the folder is odd");
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kFailed);
  EXPECT_THAT(view.record.message, HasSubstr("the folder is odd"));
}

TEST_F(BackupRunnerTest, WaitsForRoomForTheSnapshot) {
  snapshot_->failures_left = 2;
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
  EXPECT_EQ(snapshot_->failures_left, 0);
}

TEST_F(BackupRunnerTest, WaitsForRoomLongerThanForAnythingElse) {
  snapshot_->failures_left = 2;
  snapshot_->on_write = [this] { clock_.hours_ahead += 2; };
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
}

TEST_F(BackupRunnerTest, KeepsASnapshotThatIsCancelledWhileItIsWritten) {
  std::thread canceller;
  snapshot_->on_write = [&] {
    canceller = std::thread([this] {
      clock_.watched = std::this_thread::get_id();
      const auto view = runner_->GetBackup("-");
      ASSERT_OK(view);
      EXPECT_THAT(runner_->CancelBackup(view->record.id),
                  StatusIs(absl::StatusCode::kFailedPrecondition));
    });
    while (!clock_.watched_waits) std::this_thread::yield();
  };
  const BackupView view = Run();
  canceller.join();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
  EXPECT_EQ(view.record.snapshot_id, view.record.id);
}

TEST_F(BackupRunnerTest, RecordsItsEndOnceTheCatalogTakesIt) {
  ASSERT_OK_AND_ASSIGN(
      const auto database,
      catalog::Database::Open(state_.path() + "/catalog.db",
                              catalog::Database::Mode::kReadWrite));
  snapshot_->on_write = [&] {
    database->Execute(
        "CREATE TRIGGER full BEFORE UPDATE OF state ON backups "
        "WHEN NEW.end_time IS NOT NULL "
        "BEGIN SELECT RAISE(ABORT, 'no room'); END");
  };
  ASSERT_OK_AND_ASSIGN(BackupView view, runner_->StartBackup({}));
  std::vector<lease::TransferResult> results;
  while (!absl::StrContains(view.record.message, "could not be recorded")) {
    ASSERT_FALSE(catalog::HasEnded(view.record.state));
    Work(results);
    ASSERT_OK_AND_ASSIGN(view, runner_->GetBackup("-"));
  }
  database->Execute("DROP TRIGGER full");
  EXPECT_OK(database->TakeStatus());
  EXPECT_EQ(WorkUntilEnd().record.state, BackupState::kSucceeded);
  snapshot_->on_write = nullptr;
  EXPECT_EQ(Run().record.state, BackupState::kSucceeded);
}

TEST_F(BackupRunnerTest, TellsOfALatestViewThatIsBehind) {
  snapshot_->latest_status = absl::InternalError("no link");
  const BackupView view = Run();
  EXPECT_EQ(view.record.state, BackupState::kPartial);
  EXPECT_NE(view.record.snapshot_id, "");
  EXPECT_THAT(view.record.message, HasSubstr("no link"));
}

TEST_F(BackupRunnerTest, NamesAProjectThatDoesNotExist) {
  catalog::BackupRequest request;
  request.projects = {"Atlantis"};
  const BackupView view = Run(request);
  EXPECT_GE(view.record.state, BackupState::kPartial);
  EXPECT_THAT(view.record.message, HasSubstr("Atlantis"));
}

TEST_F(BackupRunnerTest, RefusesASecondOneWhileOneRuns) {
  ASSERT_OK_AND_ASSIGN(const BackupView first, runner_->StartBackup({}));
  EXPECT_THAT(runner_->StartBackup({}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(first.record.id)));
  WorkUntilEnd();
}

TEST_F(BackupRunnerTest, RefusesToStartOnAStorageThatIsGone) {
  blobs_.Fail(absl::FailedPreconditionError("no marker"));
  EXPECT_THAT(
      runner_->StartBackup({}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no marker")));
  EXPECT_THAT(runner_->GetBackup("-"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(BackupRunnerTest, CancelsARunAndOnlyARun) {
  ASSERT_OK_AND_ASSIGN(const BackupView started, runner_->StartBackup({}));
  ASSERT_OK_AND_ASSIGN(const BackupView view,
                       runner_->CancelBackup(started.record.id));
  EXPECT_EQ(view.record.state, BackupState::kCancelled);
  EXPECT_OK(runner_->CancelBackup(started.record.id));
  const BackupView next = Run();
  EXPECT_EQ(next.record.state, BackupState::kSucceeded);
  EXPECT_THAT(runner_->CancelBackup(next.record.id),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(BackupRunnerTest, CancelWaitsForNoCallToAutodesk) {
  client_.HoldCalls(true);
  ASSERT_OK_AND_ASSIGN(const BackupView started, runner_->StartBackup({}));
  while (client_.WaitingCalls() == 0) std::this_thread::yield();
  ASSERT_OK_AND_ASSIGN(const BackupView view,
                       runner_->CancelBackup(started.record.id));
  EXPECT_EQ(view.record.state, BackupState::kCancelled);
  EXPECT_EQ(client_.WaitingCalls(), 0);
}

TEST_F(BackupRunnerTest, DryRunSignsNothing) {
  catalog::BackupRequest request;
  request.validate_only = true;
  const BackupView view = Run(request);
  EXPECT_EQ(view.record.state, BackupState::kSucceeded);
  EXPECT_EQ(view.record.counters.transfers, 5);
  EXPECT_EQ(client_.CallCount(FakeBim360Client::Call::kSignDownload), 0);
  EXPECT_EQ(Run().record.counters.transfers_stored, 5);
}

TEST_F(BackupRunnerTest, LeavesACopyOfItsCatalog) {
  ASSERT_OK(runner_->StartBackup({}));
  const BackupView view = WorkUntilEnd();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
  EXPECT_THAT(
      blobs_.ObjectExists(absl::StrCat("catalog/", view.record.id, ".db.zst")),
      IsOkAndHolds(true));
}

TEST_F(BackupRunnerTest, CopyThatCannotBeStoredIsNamedAndNoFailure) {
  snapshot_->on_write = [this] {
    blobs_.FailWrites(absl::ResourceExhaustedError("no space left"));
  };
  ASSERT_OK(runner_->StartBackup({}));
  const BackupView view = WorkUntilEnd();
  EXPECT_EQ(view.record.state, BackupState::kSucceeded);
  EXPECT_EQ(view.record.message,
            "the catalog's copy was not stored: no space left");
}

// The catalog is as a process leaves it that dies between two steps.
class BackupRunnerRestartTest : public BackupRunnerTest {
 protected:
  void SetUp() override {}
};

TEST_F(BackupRunnerRestartTest, GoesOnWhereAnEarlierProcessWas) {
  ASSERT_OK_AND_ASSIGN(const auto record, catalog_->CreateBackup({}));
  StartRunner();
  const BackupView view = WorkUntilEnd();
  EXPECT_EQ(view.record.id, record.id);
  EXPECT_EQ(view.record.state, BackupState::kSucceeded) << view.record.message;
}

TEST_F(BackupRunnerRestartTest, WritesTheSnapshotThatWasNotWritten) {
  ASSERT_OK_AND_ASSIGN(const auto record, catalog_->CreateBackup({}));
  ASSERT_OK(catalog_->SetBackupState(record.number, BackupState::kCommitting,
                                     "it took too long"));
  StartRunner();
  const BackupView view = WorkUntilEnd();
  EXPECT_EQ(view.record.state, BackupState::kPartial);
  EXPECT_EQ(view.record.message, "it took too long");
  EXPECT_EQ(view.record.snapshot_id, record.id);
}

}  // namespace
}  // namespace bimbackup::backup
