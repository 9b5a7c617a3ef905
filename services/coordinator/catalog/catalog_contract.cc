#include "services/coordinator/catalog/catalog_contract.h"

#include <stdlib.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::catalog {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CatalogContract::CatalogContract() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "catalog.XXXXXX").string();
  state_dir_ = mkdtemp(pattern.data());
  Reopen();
}

CatalogContract::~CatalogContract() {
  catalog_.reset();
  std::filesystem::remove_all(state_dir_);
}

void CatalogContract::Reopen() {
  catalog_.reset();
  catalog_ = GetParam()(state_dir_, clock_, random_);
}

FrontierTask CatalogContract::TakeTask(const std::string& folder_id) {
  FrontierTask found;
  const absl::StatusOr<std::vector<FrontierTask>> tasks =
      catalog_->TakeTasks(100);
  EXPECT_OK(tasks);
  for (const FrontierTask& task : *tasks) {
    if (task.folder_id == folder_id) found = task;
    catalog_->ReleaseTask(task.task_id);
  }
  EXPECT_NE(found.task_id, 0) << folder_id;
  return found;
}

BackupNumber CatalogContract::StartWithProject() {
  const absl::StatusOr<BackupRecord> backup = catalog_->CreateBackup({});
  EXPECT_OK(backup);
  EXPECT_OK(catalog_->BeginCrawl(backup->number, nullptr));
  EXPECT_OK(catalog_->CommitProjectPage(backup->number, TakeTask(""),
                                        {{"b.1", "Tower", "ACC", "root"}},
                                        {true}, "", ""));
  return backup->number;
}

void CatalogContract::EndBackup(BackupNumber backup) {
  EXPECT_OK(catalog_->EndCrawl(backup, "not listed"));
  EXPECT_OK(catalog_->SetBackupState(backup, BackupState::kSucceeded, ""));
}

void CatalogContract::ListFolder(BackupNumber backup,
                                 const std::string& folder_id,
                                 const std::vector<ListedFolder>& folders,
                                 const std::vector<ListedItem>& items) {
  ListedPage page;
  page.folders = folders;
  page.items = items;
  EXPECT_OK(catalog_->CommitFolderPage(backup, TakeTask(folder_id), page,
                                       /*recheck_all=*/false));
}

ListedFolder CatalogContract::Folder(const std::string& id,
                                     const std::string& rollup) {
  ListedFolder listed;
  listed.folder.id = id;
  listed.folder.name = absl::StrCat("name of ", id);
  listed.folder.rollup = rollup;
  return listed;
}

ListedItem CatalogContract::Item(const std::string& id,
                                 const std::string& urn) {
  ListedItem listed;
  listed.item.item_id = id;
  listed.item.name = absl::StrCat("name of ", id);
  listed.item.version_id = absl::StrCat(id, "?version=1");
  listed.item.version_number = 1;
  listed.item.storage_urn = urn;
  listed.item.size = 100;
  listed.item.last_modified = absl::FromUnixMicros(1'650'000'000'123'456);
  return listed;
}

namespace {

TEST_P(CatalogContract, KnowsEveryOneOfManyFilesAgain) {
  BackupNumber backup = StartWithProject();
  std::vector<ListedItem> items;
  for (int i = 0; i < 40'000; ++i) {
    items.push_back(
        Item(absl::StrCat("item-", i), absl::StrCat("urn:object-", i)));
  }
  ListFolder(backup, "root", {Folder("f", "1")}, items);
  ListFolder(backup, "f", {}, {});
  EndBackup(backup);
  Reopen();
  backup = catalog_->CreateBackup({})->number;
  ASSERT_OK(catalog_->BeginCrawl(backup, nullptr));
  ASSERT_OK(catalog_->CommitProjectPage(
      backup, TakeTask(""), {{"b.1", "Tower", "ACC", "root"}}, {true}, "", ""));
  ListFolder(backup, "root", {Folder("f", "2")}, {});
  // All were moved, and one of them shares its object with another.
  items.push_back(Item("item-new", "urn:object-7"));
  ListFolder(backup, "f", {}, items);
  EXPECT_EQ(catalog_->GetTotals()->files, 40'001);
  EXPECT_EQ(catalog_->GetRunningBackup()->value().counters.transfers, 40'000);
}

TEST_P(CatalogContract, RemembersABackup) {
  BackupRequest request;
  request.request_id = "r1";
  request.validate_only = true;
  request.full_recheck = true;
  request.projects = {"b.1", "Tower"};
  request.include = {"**/*.pdf"};
  request.exclude = {"x", "y"};
  ASSERT_OK_AND_ASSIGN(const BackupRecord made,
                       catalog_->CreateBackup(request));
  EXPECT_THAT(made.id, testing::MatchesRegex("20231114T221320Z-[0-9a-f]{8}"));
  Reopen();
  ASSERT_OK_AND_ASSIGN(const BackupRecord read, catalog_->GetBackup(made.id));
  EXPECT_EQ(read.number, made.number);
  EXPECT_EQ(read.request, request);
  EXPECT_EQ(read.state, BackupState::kCrawling);
  EXPECT_EQ(read.create_time, clock_.Now());
  EXPECT_EQ(read.end_time, std::nullopt);
}

TEST_P(CatalogContract, RunsOneBackupAtATime) {
  ASSERT_OK_AND_ASSIGN(const BackupRecord first, catalog_->CreateBackup({}));
  EXPECT_THAT(catalog_->CreateBackup({}),
              StatusIs(absl::StatusCode::kAborted, HasSubstr(first.id)));
  ASSERT_OK(
      catalog_->SetBackupState(first.number, BackupState::kFailed, "why"));
  ASSERT_OK_AND_ASSIGN(const BackupRecord second, catalog_->CreateBackup({}));
  EXPECT_GT(second.number, first.number);
  ASSERT_OK_AND_ASSIGN(const auto running, catalog_->GetRunningBackup());
  EXPECT_EQ(running->id, second.id);
}

TEST_P(CatalogContract, RepeatedRequestReturnsItsBackup) {
  BackupRequest request;
  request.request_id = "r1";
  ASSERT_OK_AND_ASSIGN(const BackupRecord first,
                       catalog_->CreateBackup(request));
  ASSERT_OK_AND_ASSIGN(const BackupRecord again,
                       catalog_->CreateBackup(request));
  EXPECT_EQ(again.id, first.id);
  ASSERT_OK(
      catalog_->SetBackupState(first.number, BackupState::kSucceeded, ""));
  ASSERT_OK_AND_ASSIGN(const BackupRecord ended,
                       catalog_->CreateBackup(request));
  EXPECT_EQ(ended.id, first.id);
  EXPECT_EQ(ended.state, BackupState::kSucceeded);
}

TEST_P(CatalogContract, EndedBackupNeverChangesItsState) {
  ASSERT_OK_AND_ASSIGN(const BackupRecord made, catalog_->CreateBackup({}));
  clock_.Advance(absl::Minutes(1));
  ASSERT_OK(
      catalog_->SetBackupState(made.number, BackupState::kPartial, "some"));
  EXPECT_THAT(
      catalog_->SetBackupState(made.number, BackupState::kSucceeded, ""),
      StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(catalog_->SetBackupState(99, BackupState::kSucceeded, ""),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK_AND_ASSIGN(const BackupRecord read, catalog_->GetBackup(made.id));
  EXPECT_EQ(read.state, BackupState::kPartial);
  EXPECT_EQ(read.message, "some");
  EXPECT_EQ(read.end_time, clock_.Now());
  EXPECT_FALSE(catalog_->GetRunningBackup()->has_value());
}

TEST_P(CatalogContract, ListsBackupsNewestFirst) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(const BackupRecord made, catalog_->CreateBackup({}));
    ASSERT_OK(catalog_->SetBackupState(made.number, BackupState::kFailed, ""));
  }
  ASSERT_OK_AND_ASSIGN(const auto first, catalog_->ListBackups(0, 2));
  EXPECT_THAT(first, ElementsAre(Field(&BackupRecord::number, 5),
                                 Field(&BackupRecord::number, 4)));
  ASSERT_OK_AND_ASSIGN(const auto second, catalog_->ListBackups(4, 10));
  EXPECT_THAT(second, SizeIs(3));
}

TEST_P(CatalogContract, AddsApiCalls) {
  ASSERT_OK_AND_ASSIGN(const BackupRecord made, catalog_->CreateBackup({}));
  ASSERT_OK(catalog_->AddApiCalls(made.number, {{"folders", 3}}));
  ASSERT_OK(catalog_->AddApiCalls(made.number, {{"folders", 4}, {"token", 1}}));
  ASSERT_OK_AND_ASSIGN(const BackupRecord read, catalog_->GetBackup(made.id));
  EXPECT_THAT(read.counters.api_calls, ElementsAre(testing::Pair("folders", 7),
                                                   testing::Pair("token", 1)));
}

TEST_P(CatalogContract, RemembersSettings) {
  EXPECT_THAT(catalog_->GetSetting("storage_id"),
              StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK(catalog_->SetSetting("storage_id", "a"));
  ASSERT_OK(catalog_->SetSetting("storage_id", ""));
  Reopen();
  EXPECT_THAT(catalog_->GetSetting("storage_id"), IsOkAndHolds(""));
}

TEST_P(CatalogContract, FrontierSurvivesARestartAtItsPage) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {Folder("a", "1"), Folder("b", "1")}, {});
  ListedPage page;
  page.items = {Item("i1", "urn1")};
  page.next_page_url = "https://api/next";
  ASSERT_OK(catalog_->CommitFolderPage(backup, TakeTask("a"), page, false));
  Reopen();
  const FrontierTask task = TakeTask("a");
  EXPECT_EQ(task.page_url, "https://api/next");
  EXPECT_EQ(task.page_number, 1);
  EXPECT_EQ(TakeTask("b").page_url, "");
  EXPECT_EQ(catalog_->GetTotals()->frontier, 2);
  EXPECT_EQ(catalog_->GetTotals()->files, 1);
}

TEST_P(CatalogContract, DefectInTheListOfProjectsSurvivesARestart) {
  ASSERT_OK_AND_ASSIGN(const BackupRecord backup, catalog_->CreateBackup({}));
  ASSERT_OK(catalog_->BeginCrawl(backup.number, nullptr));
  FrontierTask task = TakeTask("");
  for (const char* defect : {"", "one is odd", "two are odd"}) {
    ASSERT_OK(catalog_->CommitProjectPage(backup.number, task, {}, {}, defect,
                                          "https://api/next"));
  }
  Reopen();
  ASSERT_OK_AND_ASSIGN(const auto running, catalog_->GetRunningBackup());
  ASSERT_TRUE(running.has_value());
  EXPECT_EQ(running->message, "one is odd");
}

TEST_P(CatalogContract, HandsOutATaskOnceAndTheNewestFirst) {
  const BackupNumber backup = StartWithProject();
  ListFolder(backup, "root", {Folder("a", "1"), Folder("b", "1")}, {});
  ASSERT_OK_AND_ASSIGN(const auto first, catalog_->TakeTasks(1));
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].folder_id, "b");
  ASSERT_OK_AND_ASSIGN(const auto second, catalog_->TakeTasks(10));
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].folder_id, "a");
  EXPECT_THAT(catalog_->TakeTasks(10), IsOkAndHolds(IsEmpty()));
  catalog_->ReleaseTask(first[0].task_id);
  EXPECT_THAT(catalog_->TakeTasks(10), IsOkAndHolds(SizeIs(1)));
}

TEST_P(CatalogContract, HandsOutNothingElseWhileProjectsAreListed) {
  const BackupNumber first = StartWithProject();
  ASSERT_OK(catalog_->SetBackupState(first, BackupState::kCancelled, ""));
  ASSERT_OK_AND_ASSIGN(const BackupRecord second, catalog_->CreateBackup({}));
  ASSERT_OK(catalog_->BeginCrawl(second.number, nullptr));
  ASSERT_OK_AND_ASSIGN(const auto tasks, catalog_->TakeTasks(10));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(tasks[0].kind, FrontierTask::Kind::kProjects);
  EXPECT_THAT(catalog_->TakeTasks(10), IsOkAndHolds(IsEmpty()));
}

TEST_P(CatalogContract, BeginningTwiceChangesNothing) {
  const BackupNumber backup = StartWithProject();
  ASSERT_OK(catalog_->BeginCrawl(backup, nullptr));
  EXPECT_EQ(TakeTask("root").kind, FrontierTask::Kind::kTopFolders);
}

TEST_P(CatalogContract, CommittingAFinishedTaskAgainChangesNothing) {
  const BackupNumber backup = StartWithProject();
  const FrontierTask task = TakeTask("root");
  ListedPage page;
  page.items = {Item("i1", "urn1")};
  ASSERT_OK(catalog_->CommitFolderPage(backup, task, page, false));
  ASSERT_OK(catalog_->CommitFolderPage(backup, task, {}, false));
  ASSERT_OK(catalog_->CommitUnlisted(backup, task, "no"));
  EXPECT_EQ(catalog_->GetTotals()->files, 1);
  EXPECT_THAT(catalog_->ListUnlisted("", "", 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(CatalogContract, FileComesBackAsItWasListed) {
  const BackupNumber backup = StartWithProject();
  ListedItem empty = Item("i2", "");
  empty.no_content_reason = "a placeholder";
  empty.item.last_modified = absl::InfinitePast();
  ListFolder(backup, "root", {}, {Item("i1", "urn1"), empty});
  ASSERT_OK_AND_ASSIGN(const FolderChildren children,
                       catalog_->ListChildren("b.1", ""));
  ASSERT_THAT(children.files, SizeIs(2));
  const FileRecord& file = children.files[0];
  EXPECT_EQ(file.project_id, "b.1");
  EXPECT_EQ(file.item_id, "i1");
  EXPECT_EQ(file.name, "name of i1");
  EXPECT_EQ(file.version_id, "i1?version=1");
  EXPECT_EQ(file.version_number, 1);
  EXPECT_EQ(file.size, 100);
  EXPECT_EQ(file.storage_urn, "urn1");
  EXPECT_EQ(file.last_modified, absl::FromUnixMicros(1'650'000'000'123'456));
  EXPECT_EQ(file.sha256, "");
  EXPECT_EQ(children.files[1].reason, "a placeholder");
  EXPECT_EQ(children.files[1].last_modified, absl::InfinitePast());
  EXPECT_THAT(catalog_->ListChildren("b.1", "nowhere"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace bimbackup::catalog
