// Whole backups through the real coordinator, workers and emulator.

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "tests/integration/one_process.h"

namespace bimbackup::integration {
namespace {

using bim360_emulator::Endpoint;
using bim360_emulator::FaultAction;
using bim360_emulator::FaultMatch;
using bim360_emulator::FaultType;
using bim360_emulator::TreeEntry;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProcessOptions Account(const std::string& shape) {
  ProcessOptions options;
  options.emulator.account = shape;
  return options;
}

constexpr char kSmall[] = "custom:projects=2,folders=20,files=80,bytes=2000000";

std::vector<TreeEntry> Values(const std::map<std::string, TreeEntry>& entries) {
  std::vector<TreeEntry> values;
  for (const auto& [key, entry] : entries) values.push_back(entry);
  return values;
}

void Fail(OneProcess& process, Endpoint endpoint, const std::string& name,
          int status) {
  FaultMatch match;
  match.endpoint = endpoint;
  match.name = name;
  FaultAction action;
  action.status = status;
  ASSERT_OK(process.emulator().faults().Add(match, action));
}

TEST(BackupTest, StoresTheDemoAccountAndRepeatsForNothing) {
  ProcessOptions options = Account("demo");
  options.emulator.size_scale = 0.1;
  OneProcess process(options);
  process.AddWorker();
  const v1::Backup first = process.RunBackup();
  EXPECT_EQ(first.state(), v1::BACKUP_STATE_SUCCEEDED) << first.message();
  EXPECT_EQ(first.progress().transfers_stored(), 136);
  EXPECT_EQ(first.progress().folders_listed(), 30);
  process.ExpectWhole();

  process.emulator().log().Clear();
  const v1::Backup second = process.RunBackup();
  EXPECT_EQ(second.state(), v1::BACKUP_STATE_SUCCEEDED) << second.message();
  EXPECT_EQ(second.progress().transfers(), 0);
  EXPECT_EQ(second.progress().manifests_written(), 0);
  EXPECT_EQ(process.Calls(Endpoint::kStorage), 0);
  EXPECT_EQ(process.Calls(Endpoint::kSign), 0);
  EXPECT_LE(process.Calls(Endpoint::kProjects), 1);
  EXPECT_LE(
      process.Calls(Endpoint::kContents) + process.Calls(Endpoint::kTopFolders),
      2);
}

TEST(BackupTest, FetchesOnlyWhatChanged) {
  OneProcess process(Account(kSmall));
  process.AddWorker();
  process.RunBackup();
  const auto before = process.ListFiles();
  const std::vector<TreeEntry> files = Values(process.AccountFiles());
  auto& account = process.emulator().account();
  for (int i = 0; i < 3; ++i) {
    bim360_emulator::FileSpec spec;
    spec.size = 4321;
    ASSERT_OK(account.ChangeFile(process.NodeOf(files[i]), spec));
  }
  ASSERT_OK(account.Rename(process.NodeOf(files[10]), "renamed.bin"));
  ASSERT_OK(account.CreateFolder({files[20].project_guid, {"Moved here"}}));
  ASSERT_OK(account.Move(process.NodeOf(files[20]),
                         {files[20].project_guid, {"Moved here"}}));
  ASSERT_OK(account.Delete(process.NodeOf(files[30])));

  const v1::Backup third = process.RunBackup();
  EXPECT_EQ(third.state(), v1::BACKUP_STATE_SUCCEEDED) << third.message();
  EXPECT_EQ(third.progress().transfers_stored(), 3);
  process.ExpectWhole();

  const auto context = Context();
  v1::ListSnapshotsResponse snapshots;
  ASSERT_TRUE(process.stub().ListSnapshots(context.get(), {}, &snapshots).ok());
  ASSERT_THAT(snapshots.snapshots(), SizeIs(2));
  const auto old = process.ListFiles(snapshots.snapshots(1).name());
  ASSERT_EQ(old.size(), before.size());
  for (const auto& [key, entry] : before) {
    EXPECT_EQ(old.at(key).SerializeAsString(), entry.SerializeAsString());
  }
}

TEST(BackupTest, NamesAndCarriesWhatItCouldNotGetAndRetriesThatAlone) {
  OneProcess process(Account(kSmall));
  process.AddWorker();
  process.RunBackup();
  const std::vector<TreeEntry> files = Values(process.AccountFiles());
  const TreeEntry hidden = files[3];
  const std::string folder = hidden.path[hidden.path.size() - 2];
  const TreeEntry* missing = nullptr;
  for (const TreeEntry& file : files) {
    const bool below = std::find(file.path.begin(), file.path.end(), folder) !=
                       file.path.end();
    if (!below) missing = &file;
  }
  ASSERT_NE(missing, nullptr);
  bim360_emulator::FileSpec spec;
  spec.size = 99;
  auto& account = process.emulator().account();
  ASSERT_OK(account.ChangeFile(process.NodeOf(hidden), spec));
  ASSERT_OK(account.ChangeFile(process.NodeOf(*missing), spec));
  Fail(process, Endpoint::kContents, folder, 403);
  Fail(process, Endpoint::kSign, missing->path.back(), 404);

  const v1::Backup partial = process.RunBackup();
  EXPECT_EQ(partial.state(), v1::BACKUP_STATE_PARTIAL);
  EXPECT_THAT(partial.message(), HasSubstr("1 file could not be fetched"));
  std::string named;
  for (const v1::TransferRecord& failure : process.ListFailures()) {
    named += failure.ShortDebugString();
  }
  EXPECT_THAT(named, HasSubstr(folder));
  EXPECT_THAT(named, HasSubstr(missing->path.back()));
  int carried = 0;
  int failed = 0;
  for (const auto& [key, entry] : process.ListFiles()) {
    carried += entry.kind() == "file" && entry.status() == "carried";
    failed += entry.status() == "failed";
    EXPECT_EQ(entry.sha256().empty(), entry.kind() == "folder") << key;
  }
  EXPECT_GE(carried, 1);
  EXPECT_EQ(failed, 1);

  process.emulator().faults().Clear();
  process.emulator().log().Clear();
  const v1::Backup mended = process.RunBackup();
  EXPECT_EQ(mended.state(), v1::BACKUP_STATE_SUCCEEDED) << mended.message();
  EXPECT_EQ(mended.progress().transfers_stored(), 2);
  EXPECT_EQ(process.Calls(Endpoint::kSign), 2);
  process.ExpectWhole();
}

TEST(BackupTest, GoesOnAfterACoordinatorRestartWithoutListingTwice) {
  ProcessOptions options = Account(kSmall);
  options.emulator.first_byte_latency = absl::Milliseconds(100);
  OneProcess process(options);
  process.AddWorker();
  process.Start();
  process.WatchUntil("backups/-", [](const v1::Backup& backup) {
    return backup.progress().transfers_stored() > 0;
  });
  process.StopCoordinator();
  process.StartCoordinator();
  const v1::Backup ended = process.WaitForEnd();
  EXPECT_EQ(ended.state(), v1::BACKUP_STATE_SUCCEEDED) << ended.message();
  EXPECT_EQ(ended.progress().transfers_stored(), 80);
  process.ExpectWhole();
  for (const auto& [page, counts] :
       process.emulator().log().BySubject(Endpoint::kContents)) {
    EXPECT_LE(counts.answered, 2) << page;
  }
}

TEST(BackupTest, DryRunWritesNothingAndItsListingIsReused) {
  OneProcess process(Account(kSmall));
  process.AddWorker();
  v1::StartBackupRequest request;
  request.set_validate_only(true);
  const v1::Backup dry = process.RunBackup(request);
  EXPECT_EQ(dry.state(), v1::BACKUP_STATE_SUCCEEDED) << dry.message();
  EXPECT_EQ(dry.progress().transfers(), 80);
  EXPECT_EQ(dry.progress().transfers_stored(), 0);
  EXPECT_EQ(dry.snapshot(), "");
  EXPECT_EQ(process.Calls(Endpoint::kSign), 0);
  process.emulator().log().Clear();
  const v1::Backup real = process.RunBackup();
  EXPECT_EQ(real.state(), v1::BACKUP_STATE_SUCCEEDED) << real.message();
  EXPECT_EQ(real.progress().transfers_stored(), 80);
  EXPECT_LE(
      process.Calls(Endpoint::kContents) + process.Calls(Endpoint::kTopFolders),
      4);
  process.ExpectWhole();
}

TEST(BackupTest, CancelsAndGoesOnWithTheNext) {
  ProcessOptions options = Account(kSmall);
  options.emulator.first_byte_latency = absl::Milliseconds(200);
  OneProcess process(options);
  process.AddWorker();
  const v1::Backup started = process.Start();
  process.WatchUntil(started.name(), [](const v1::Backup& backup) {
    return backup.progress().transfers_stored() > 0;
  });
  v1::CancelBackupRequest request;
  request.set_name(started.name());
  for (int i = 0; i < 2; ++i) {
    const auto context = Context();
    v1::CancelBackupResponse response;
    const grpc::Status status =
        process.stub().CancelBackup(context.get(), request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.backup().state(), v1::BACKUP_STATE_CANCELLED);
    EXPECT_EQ(response.backup().snapshot(), "");
  }
  const v1::Backup next = process.RunBackup();
  EXPECT_EQ(next.state(), v1::BACKUP_STATE_SUCCEEDED) << next.message();
  process.ExpectWhole();
}

TEST(BackupTest, EndsPartialAtItsLongestDurationAndGoesOn) {
  ProcessOptions options = Account(kSmall);
  options.emulator.first_byte_latency = absl::Milliseconds(300);
  options.coordinator.max_duration = absl::Milliseconds(900);
  OneProcess process(options);
  process.AddWorker();
  v1::Backup backup;
  for (int run = 0; run < 20; ++run) {
    backup = process.RunBackup();
    EXPECT_NE(backup.snapshot(), "") << backup.message();
    if (backup.state() == v1::BACKUP_STATE_SUCCEEDED) break;
    EXPECT_EQ(backup.state(), v1::BACKUP_STATE_PARTIAL) << backup.message();
  }
  EXPECT_EQ(backup.state(), v1::BACKUP_STATE_SUCCEEDED) << backup.message();
  process.ExpectWhole();
}

TEST(BackupTest, SharesTheWorkAmongWorkers) {
  OneProcess process(Account(kSmall));
  process.AddWorker();
  process.AddWorker();
  EXPECT_EQ(process.RunBackup().state(), v1::BACKUP_STATE_SUCCEEDED);
  const auto context = Context();
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(process.stub().ListWorkers(context.get(), {}, &workers).ok());
  ASSERT_THAT(workers.workers(), SizeIs(2));
  int64_t stored = 0;
  for (const v1::Worker& worker : workers.workers()) {
    EXPECT_GT(worker.stored_count(), 0);
    stored += worker.stored_count();
  }
  EXPECT_EQ(stored, 80);
}

TEST(BackupTest, SaysWhatToDoAboutAnAccountThatIsNotThere) {
  ProcessOptions options = Account(kSmall);
  options.coordinator.account_id = "11111111-2222-4333-8444-555555555555";
  OneProcess process(options);
  const v1::Backup failed = process.RunBackup();
  EXPECT_EQ(failed.state(), v1::BACKUP_STATE_FAILED);
  EXPECT_THAT(failed.message(), HasSubstr("Custom Integrations"));
  EXPECT_THAT(failed.message(), HasSubstr("emulator"));
}

TEST(BackupTest, SaysThatTheCredentialsAreRefused) {
  ProcessOptions options = Account(kSmall);
  options.coordinator.client_secret = Secret("wrong-secret");
  OneProcess process(options);
  const v1::Backup failed = process.RunBackup();
  EXPECT_EQ(failed.state(), v1::BACKUP_STATE_FAILED);
  EXPECT_THAT(failed.message(), Not(HasSubstr("wrong-secret")));
}

}  // namespace
}  // namespace bimbackup::integration
