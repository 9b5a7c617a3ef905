// SqliteCatalogImpl as a CrawlStore: the pages.

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/accept_writer.h"
#include "services/coordinator/catalog/project_writer.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"
#include "services/coordinator/catalog/tree_reader.h"

namespace bimbackup::catalog {
namespace {

constexpr char kFindProjectsTask[] = "SELECT task FROM frontier WHERE kind = 0";

constexpr char kListOpen[] = R"sql(
SELECT task FROM frontier WHERE blocked = 0 ORDER BY task DESC LIMIT ?)sql";

constexpr char kReadTask[] = R"sql(
SELECT t.task, t.kind, p.id, f.id, t.page_url, t.page_number FROM frontier t
LEFT JOIN projects p ON p.pk = t.project
LEFT JOIN folders f ON f.pk = t.folder
WHERE t.task = ?)sql";

constexpr char kReadCarriedReason[] = R"sql(
SELECT unlisted FROM folders WHERE pk = ? AND in_part = 0)sql";

constexpr char kSetMessage[] =
    "UPDATE backups SET message = ?2 WHERE number = ?1 AND message = ''";

constexpr char kSetUnlisted[] =
    "UPDATE folders SET unlisted = ?2, in_part = 0 WHERE pk = ?1";

constexpr char kSetDenied[] =
    "UPDATE folders SET denied = MAX(denied, 1) WHERE pk = ?";

constexpr char kSetNotDenied[] =
    "UPDATE folders SET denied = 0 WHERE pk = ? AND denied = 1";

constexpr char kReadCrawlTask[] =
    "SELECT crawl_task FROM backups WHERE number = ?";

FrontierTask ReadTask(Database& database, int64_t task_id) {
  FrontierTask task;
  Query query(database, kReadTask, task_id);
  if (!query.Next()) return task;
  task.task_id = query.Int(0);
  task.kind = static_cast<FrontierTask::Kind>(query.Int(1));
  task.project_id = query.Text(2);
  task.folder_id = query.Text(3);
  task.page_url = query.Text(4);
  task.page_number = query.Int(5);
  return task;
}

// The folder's content is carried, for `reason`.
void SetUnlisted(WriteBatch& batch, const FrontierRow& row,
                 absl::string_view reason) {
  std::optional<std::string> former;
  {
    Query query(batch.database(), kReadCarriedReason, row.folder);
    if (query.Next() && !query.IsNull(0)) former = query.Text(0);
  }
  Run(batch.database(), kSetUnlisted, row.folder, reason);
  if (former != reason) batch.MarkChanged(row.project);
}

// Has the parent listed, unless this backup has done so or is about to.
void PushParent(WriteBatch& batch, BackupNumber backup, int64_t folder) {
  Database& database = batch.database();
  const std::optional<FolderRow> child = ReadFolder(database, folder);
  if (!child.has_value() || child->parent == 0) return;
  const std::optional<FolderRow> parent = ReadFolder(database, child->parent);
  const int64_t crawl_task = ReadInt(database, 0, kReadCrawlTask, backup);
  if (!parent.has_value() || parent->task != 0 || parent->listed == kMadeUp ||
      parent->listed > crawl_task) {
    return;
  }
  const bool is_root = parent->parent == 0;
  const std::optional<FolderRow> above = ReadFolder(database, parent->parent);
  // This run has seen the parent unchanged, and is to list it all the same.
  if (!is_root && above.has_value() && above->listed > crawl_task) {
    --batch.Counters(backup).folders_skipped;
  }
  PushTask(
      database,
      is_root ? FrontierTask::Kind::kTopFolders : FrontierTask::Kind::kFolder,
      parent->project, parent->pk, parent->rollup, Blocked::kOpen);
}

}  // namespace

absl::StatusOr<std::vector<FrontierTask>> SqliteCatalogImpl::TakeTasks(
    int limit) {
  ReaderPool::Reader reader(*readers_);
  std::vector<FrontierTask> tasks;
  // Chosen and marked under one lock: a task that another thread has just
  // finished is still marked in whatever state of the database this sees.
  MutexLock lock(tasks_mutex_);
  const int64_t projects = ReadInt(*reader, 0, kFindProjectsTask);
  if (projects != 0) {
    if (limit > 0 && handed_out_.count(projects) == 0) {
      tasks.push_back(ReadTask(*reader, projects));
    }
  } else {
    const int64_t at_most = limit + static_cast<int64_t>(handed_out_.size());
    Query query(*reader, kListOpen, at_most);
    while (static_cast<int>(tasks.size()) < limit && query.Next()) {
      if (handed_out_.count(query.Int(0)) > 0) continue;
      tasks.push_back(ReadTask(*reader, query.Int(0)));
    }
  }
  ABSL_RETURN_IF_ERROR(reader->TakeStatus());
  for (const FrontierTask& task : tasks) handed_out_.insert(task.task_id);
  return tasks;
}

void SqliteCatalogImpl::ReleaseTask(int64_t task_id) {
  MutexLock lock(tasks_mutex_);
  handed_out_.erase(task_id);
}

bool SqliteCatalogImpl::IsHandedOut(int64_t task) {
  MutexLock lock(tasks_mutex_);
  return handed_out_.count(task) > 0;
}

TreeWriter::Options SqliteCatalogImpl::WriterOptions(BackupNumber backup,
                                                     bool recheck_all) {
  return {backup, recheck_all,
          [this](int64_t task) { return IsHandedOut(task); }};
}

absl::Status SqliteCatalogImpl::CommitProjectPage(
    BackupNumber backup, const FrontierTask& task,
    const std::vector<bim360::Project>& projects,
    const std::vector<bool>& wanted, absl::string_view defect,
    absl::string_view next_page_url) {
  return writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    std::optional<FrontierRow> row = FindTask(database, task.task_id);
    if (!row.has_value()) return absl::OkStatus();
    for (size_t i = 0; i < projects.size(); ++i) {
      WriteProject(batch, row->task, projects[i], wanted[i]);
    }
    if (row->defect.empty()) absl::StrAppend(&row->defect, defect);
    if (!defect.empty()) Run(database, kSetMessage, backup, defect);
    if (!next_page_url.empty()) {
      AdvanceTask(database, *row, next_page_url);
      return absl::OkStatus();
    }
    RemoveTask(database, *row);
    if (row->defect.empty()) MarkVanishedProjects(batch, row->task);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::CommitTopFolders(
    BackupNumber backup, const FrontierTask& task,
    const std::vector<ListedFolder>& folders) {
  const TreeWriter::Options options =
      WriterOptions(backup, /*recheck_all=*/false);
  return writer_.Commit([&](WriteBatch& batch) {
    std::optional<FrontierRow> row = FindTask(batch.database(), task.task_id);
    if (!row.has_value()) return absl::OkStatus();
    const std::optional<FolderRow> root =
        ReadFolder(batch.database(), row->folder);
    if (!root.has_value()) return absl::OkStatus();
    TreeWriter writer(batch, options, *root, *row);
    for (const ListedFolder& folder : folders) writer.WriteDeepFolder(folder);
    writer.Finish(/*items_listed=*/false, /*keeps=*/nullptr);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::CommitFolderPage(BackupNumber backup,
                                                 const FrontierTask& task,
                                                 const ListedPage& page,
                                                 bool recheck_all) {
  const TreeWriter::Options options = WriterOptions(backup, recheck_all);
  ABSL_RETURN_IF_ERROR(writer_.Commit([&](WriteBatch& batch) {
    std::optional<FrontierRow> row = FindTask(batch.database(), task.task_id);
    if (!row.has_value()) return absl::OkStatus();
    const std::optional<FolderRow> folder =
        ReadFolder(batch.database(), row->folder);
    if (!folder.has_value()) return absl::OkStatus();
    if (row->defect.empty()) row->defect = page.defect;
    TreeWriter writer(batch, options, *folder, *row);
    for (const ListedFolder& child : page.folders) writer.WriteFolder(child);
    for (const ListedItem& item : page.items) writer.WriteItem(item);
    if (page.next_page_url.empty()) {
      writer.Finish(/*items_listed=*/true, page.keeps);
    } else {
      AdvanceTask(batch.database(), *row, page.next_page_url);
    }
    MaybeCrash("catalog.page_commit.before");
    return absl::OkStatus();
  }));
  MaybeCrash("catalog.page_commit.after");
  return absl::OkStatus();
}

absl::Status SqliteCatalogImpl::BlockTask(BackupNumber backup,
                                          const FrontierTask& task,
                                          const Block& block) {
  return writer_.Commit([&](WriteBatch& batch) {
    Database& database = batch.database();
    const std::optional<FrontierRow> row = FindTask(database, task.task_id);
    if (!row.has_value()) return absl::OkStatus();
    if (block.reason.empty()) {
      RenewTask(database, *row, Blocked::kFiltered);
      return absl::OkStatus();
    }
    SetUnlisted(batch, *row, block.reason);
    if (block.denied && IsDenialAccepted(database, row->folder)) {
      RemoveTask(database, *row);
      return absl::OkStatus();
    }
    ++batch.Counters(backup).unlisted;
    Run(database, block.denied ? kSetDenied : kSetNotDenied, row->folder);
    RenewTask(database, *row, Blocked::kUnlisted);
    if (block.push_parent) PushParent(batch, backup, row->folder);
    return absl::OkStatus();
  });
}

absl::Status SqliteCatalogImpl::CommitUnlisted(BackupNumber backup,
                                               const FrontierTask& task,
                                               absl::string_view reason) {
  return BlockTask(backup, task,
                   {.reason = reason.empty() ? "not listed" : reason});
}

absl::Status SqliteCatalogImpl::CommitDenied(BackupNumber backup,
                                             const FrontierTask& task,
                                             absl::string_view reason) {
  return BlockTask(
      backup, task,
      {.reason = reason.empty() ? "forbidden" : reason, .denied = true});
}

absl::Status SqliteCatalogImpl::CommitNotFound(BackupNumber backup,
                                               const FrontierTask& task,
                                               absl::string_view reason) {
  return BlockTask(
      backup, task,
      {.reason = reason.empty() ? "not found" : reason, .push_parent = true});
}

absl::Status SqliteCatalogImpl::CommitFiltered(BackupNumber backup,
                                               const FrontierTask& task) {
  return BlockTask(backup, task, {});
}

}  // namespace bimbackup::catalog
