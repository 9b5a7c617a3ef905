#include "services/coordinator/crawl/crawl_harness.h"

#include <stdlib.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/sqlite_catalog.h"

namespace bimbackup::crawl {
namespace {

using catalog::BackupNumber;
using catalog::BackupRecord;
using catalog::BackupState;
using catalog::TransferRecord;
using catalog::TransferState;

// Takes the value, or ends the test's process: a harness cannot return.
template <typename T>
T Must(absl::StatusOr<T> result) {
  EXPECT_OK(result);
  return *std::move(result);
}

std::string Describe(const catalog::FileRecord& file) {
  std::string text = absl::StrCat(file.version_id, " ", file.sha256);
  if (!file.reason.empty()) absl::StrAppend(&text, " (", file.reason, ")");
  if (file.guarded) absl::StrAppend(&text, " guarded");
  if (file.former.has_value()) {
    absl::StrAppend(&text, " former ", file.former->version_id);
  }
  return text;
}

}  // namespace

std::string FakeDigest(absl::string_view storage_urn) {
  return Sha256Hex(storage_urn);
}

CrawlHarness::CrawlHarness() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "crawl.XXXXXX").string();
  state_dir = mkdtemp(pattern.data());
  Reopen();
}

CrawlHarness::~CrawlHarness() {
  catalog.reset();
  std::filesystem::remove_all(state_dir);
}

void CrawlHarness::Reopen() {
  catalog.reset();
  catalog::SqliteCatalogOptions options;
  options.state_dir = state_dir;
  catalog = Must(catalog::SqliteCatalog::Open(options, clock, random));
}

BackupNumber CrawlHarness::Start(const catalog::BackupRequest& request) {
  return Must(catalog->CreateBackup(request)).number;
}

CrawlerOptions CrawlHarness::Options(BackupNumber backup) const {
  CrawlerOptions options;
  options.backup = backup;
  options.hub_id = bim360::FakeBim360Client::kHubId;
  options.client_id = "the-client-id";
  options.viewer = "the-client-id";
  options.concurrency = 4;
  return options;
}

void CrawlHarness::End(BackupNumber backup, BackupState state) {
  EXPECT_OK(catalog->SetBackupState(backup, state, ""));
}

BackupRecord CrawlHarness::Run(BackupNumber backup, CrawlerOptions options) {
  Crawler crawler(client, *catalog, clock, std::move(options));
  EXPECT_TRUE(Must(crawler.Run()).complete);
  const BackupRecord record = *Must(catalog->GetRunningBackup());
  StoreAll(backup);
  End(backup);
  return record;
}

BackupRecord CrawlHarness::Backup(int64_t recheck_folders) {
  const BackupNumber backup = Start();
  CrawlerOptions options = Options(backup);
  options.recheck_folders = recheck_folders;
  return Run(backup, options);
}

BackupRecord CrawlHarness::Backup(const catalog::BackupRequest& request) {
  const BackupNumber backup = Start(request);
  CrawlerOptions options = Options(backup);
  options.filter = Must(PathFilter::Create(request));
  options.full_recheck = request.full_recheck;
  return Run(backup, options);
}

std::vector<std::string> CrawlHarness::StoreAll(BackupNumber backup) {
  std::vector<std::string> urns;
  std::vector<catalog::TransferUpdate> updates;
  for (const TransferRecord& transfer :
       Must(catalog->ListPending(backup, 0, 1 << 20))) {
    urns.push_back(transfer.storage_urn);
    catalog::TransferUpdate& update = updates.emplace_back();
    update.transfer_id = transfer.transfer_id;
    update.state = TransferState::kStored;
    update.sha256 = FakeDigest(transfer.storage_urn);
    update.size = transfer.size.value_or(0);
  }
  EXPECT_OK(catalog->ApplyUpdates(backup, updates));
  return urns;
}

std::vector<std::string> CrawlHarness::FailAll(BackupNumber backup) {
  std::vector<std::string> urns;
  for (const TransferRecord& transfer :
       Must(catalog->ListPending(backup, 0, 1 << 20))) {
    urns.push_back(transfer.storage_urn);
  }
  EXPECT_OK(catalog->FailOpen(backup, "gone wrong"));
  return urns;
}

std::map<std::string, std::string> CrawlHarness::Tree() {
  std::map<std::string, std::string> tree;
  for (const catalog::ProjectRecord& project : Must(catalog->ListProjects())) {
    std::string text = "project";
    if (project.vanished) absl::StrAppend(&text, " vanished");
    if (!project.unlisted_reason.empty()) absl::StrAppend(&text, " unlisted");
    tree[project.name] = text;
    AddChildren(project.project_id, "", project.name, tree);
  }
  return tree;
}

void CrawlHarness::AddChildren(const std::string& project_id,
                               const std::string& folder_id,
                               const std::string& path,
                               std::map<std::string, std::string>& tree) {
  const catalog::FolderChildren children =
      Must(catalog->ListChildren(project_id, folder_id));
  for (const catalog::FolderRecord& folder : children.folders) {
    const std::string child = absl::StrCat(path, "/", folder.name);
    std::string text = absl::StrCat("folder ", folder.folder_id);
    if (!folder.unlisted_reason.empty()) absl::StrAppend(&text, " unlisted");
    if (folder.guarded) absl::StrAppend(&text, " guarded");
    tree[child] = text;
    AddChildren(project_id, folder.folder_id, child, tree);
  }
  for (const catalog::FileRecord& file : children.files) {
    tree[absl::StrCat(path, "/", file.name)] = Describe(file);
  }
}

std::map<std::string, std::string> CrawlHarness::TrueTree() {
  std::map<std::string, std::string> tree;
  for (const bim360::Project& project :
       Must(client.ListProjects(bim360::FakeBim360Client::kHubId, "", {}))
           .projects) {
    tree[project.name] = "project";
    AddTrueChildren(project.id, project.root_folder_id, project.name, tree);
  }
  return tree;
}

void CrawlHarness::AddTrueChildren(const std::string& project_id,
                                   const std::string& folder_id,
                                   const std::string& path,
                                   std::map<std::string, std::string>& tree) {
  std::string page_url;
  do {
    const bim360::FolderPage page =
        Must(client.ListFolderContents(project_id, folder_id, page_url, {}));
    for (const bim360::Folder& folder : page.folders) {
      const std::string child = absl::StrCat(path, "/", folder.name);
      tree[child] = absl::StrCat("folder ", folder.id);
      AddTrueChildren(project_id, folder.id, child, tree);
    }
    for (const bim360::Item& item : page.items) {
      tree[absl::StrCat(path, "/", item.name)] =
          absl::StrCat(item.version_id, " ", FakeDigest(item.storage_urn));
    }
    page_url = page.next_page_url;
  } while (!page_url.empty());
}

std::vector<std::string> CrawlHarness::Unlisted() {
  std::vector<std::string> unlisted;
  for (const catalog::UnlistedRecord& record :
       Must(catalog->ListUnlisted("", "", 1000))) {
    std::vector<std::string> path = record.path;
    path.insert(path.begin(), record.project_name);
    unlisted.push_back(
        absl::StrCat(absl::StrJoin(path, "/"), ": ", record.reason));
  }
  return unlisted;
}

bool CrawlHarness::IsChanged(absl::string_view project_id) {
  return Must(catalog->GetProject(project_id)).changed;
}

catalog::BackupCounters CrawlHarness::Counters(BackupNumber backup) {
  return Must(catalog->ListBackups(backup + 1, 1))[0].counters;
}

}  // namespace bimbackup::crawl
