// The crawler's listings: what is asked, and what becomes of the answers.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/bim360/page_loop_guard.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"
#include "services/coordinator/crawl/crawler.h"
#include "services/coordinator/crawl/page_judgement.h"

namespace bimbackup::crawl {
namespace {

using catalog::FrontierTask;

// 400,000 entries in one folder; a listing that does not end ends here.
constexpr size_t kMaxPages = 2'000;

bool IsNoAccess(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsPermissionDenied(status);
}

// Says what to do when the account does not show its projects.
absl::Status NotProvisioned(absl::StatusCode code, absl::string_view what,
                            const CrawlerOptions& options) {
  return absl::Status(
      code,
      absl::StrCat(what, " for hub ", options.hub_id,
                   ": an administrator of the account must add client id ",
                   options.client_id,
                   " under Account Admin > Custom Integrations; or the account"
                   " id is another one"));
}

}  // namespace

void Crawler::Process(const FrontierTask& task) {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) return;
  }
  if (task.kind == FrontierTask::Kind::kProjects) {
    ListProjects(task);
    return;
  }
  std::vector<std::string> path;
  // Without a filter nobody looks at the path.
  if (!options_.filter.WantsEverything()) {
    absl::StatusOr<std::vector<std::string>> found = PathOf(task);
    if (!found.ok()) {
      Fail(found.status());
      return;
    }
    path = *std::move(found);
    if (!options_.filter.WantsProject(task.project_id, path[0]) ||
        !options_.filter.WantsFolder(path)) {
      Commit([&] { return store_.CommitFiltered(options_.backup, task); });
      return;
    }
  }
  if (task.folder_id.empty()) {
    ListTopFolders(task);
  } else {
    ListFolder(task, path);
  }
}

absl::StatusOr<std::vector<std::string>> Crawler::PathOf(
    const FrontierTask& task) {
  ABSL_ASSIGN_OR_RETURN(const catalog::ProjectRecord project,
                        store_.GetProject(task.project_id));
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> path,
                        store_.GetFolderPath(task.project_id, task.folder_id));
  path.insert(path.begin(), project.name);
  return path;
}

void Crawler::ListProjects(FrontierTask task) {
  if (task.page_number > 0) {
    // An earlier process has seen the pages before, and what was on them.
    MutexLock lock(mutex_);
    ++projects_seen_;
    projects_missed_.clear();
  }
  bim360::PageLoopGuard guard(kMaxPages);
  while (true) {
    const absl::StatusOr<bim360::ProjectPage> page = client_.ListProjects(
        options_.hub_id, task.page_url, calls_.get_token());
    if (!page.ok()) {
      Fail(IsNoAccess(page.status())
               ? NotProvisioned(page.status().code(),
                                "Autodesk does not show the projects", options_)
               : page.status());
      return;
    }
    const std::string defect =
        page->defects.empty() ? ""
                              : absl::StrCat("in the list of projects ",
                                             DescribeDefects(page->defects));
    NoteProjects(*page, defect);
    absl::Status status = guard.Visit(page->next_page_url);
    if (page->next_page_url.empty()) status = CheckProjects();
    if (!status.ok()) {
      Fail(status);
      return;
    }
    std::vector<bool> wanted;
    for (const bim360::Project& project : page->projects) {
      wanted.push_back(options_.filter.WantsProject(project.id, project.name));
    }
    if (!Commit([&] {
          return store_.CommitProjectPage(options_.backup, task, page->projects,
                                          wanted, defect, page->next_page_url);
        })) {
      return;
    }
    if (page->next_page_url.empty()) return;
    task.page_url = page->next_page_url;
    ++task.page_number;
  }
}

void Crawler::NoteProjects(const bim360::ProjectPage& page,
                           absl::string_view defect) {
  MutexLock lock(mutex_);
  projects_seen_ += page.projects.size();
  for (const bim360::Project& project : page.projects) {
    projects_missed_.erase(project.id);
    projects_missed_.erase(project.name);
  }
  if (message_.empty()) absl::StrAppend(&message_, defect);
}

absl::Status Crawler::CheckProjects() {
  MutexLock lock(mutex_);
  if (projects_seen_ == 0 && !message_.empty()) {
    return absl::DataLossError(message_);
  }
  if (projects_seen_ == 0) {
    return NotProvisioned(absl::StatusCode::kFailedPrecondition,
                          "Autodesk shows no project", options_);
  }
  if (!projects_missed_.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the account has no active project called ",
                     absl::StrJoin(projects_missed_, ", ")));
  }
  return absl::OkStatus();
}

void Crawler::ListTopFolders(const FrontierTask& task) {
  const absl::StatusOr<catalog::ProjectRecord> project =
      store_.GetProject(task.project_id);
  const absl::StatusOr<bim360::FolderPage> page = client_.ListTopFolders(
      options_.hub_id, task.project_id, calls_.get_token());
  NoteAnswer(page.status());
  if (!page.ok() || !project.ok()) {
    CommitFailure(task, page.ok() ? project.status() : page.status());
    return;
  }
  if (!page->defects.empty()) {
    Commit([&] {
      return store_.CommitUnlisted(options_.backup, task,
                                   DescribeDefects(page->defects));
    });
    return;
  }
  std::vector<catalog::ListedFolder> folders;
  for (const bim360::Folder& folder : page->folders) {
    std::vector<std::string> path = {project->name};
    path.insert(path.end(), folder.parent_names.begin(),
                folder.parent_names.end());
    path.push_back(folder.name);
    folders.push_back({folder, !options_.filter.WantsFolder(path)});
  }
  MaybeCrash("crawl.page_listed");
  Commit(
      [&] { return store_.CommitTopFolders(options_.backup, task, folders); });
}

void Crawler::ListFolder(FrontierTask task,
                         const std::vector<std::string>& path) {
  bim360::PageLoopGuard guard(kMaxPages);
  while (true) {
    absl::StatusOr<bim360::FolderPage> page = client_.ListFolderContents(
        task.project_id, task.folder_id, task.page_url, calls_.get_token());
    NoteAnswer(page.status());
    if (!page.ok()) {
      // Without rights at the root one may still see folders below it.
      if (task.kind == FrontierTask::Kind::kTopFolders &&
          task.page_number == 0 && IsNoAccess(page.status())) {
        ListTopFolders(task);
      } else {
        CommitFailure(task, page.status());
      }
      return;
    }
    MaybeCrash("crawl.page_listed");
    const std::string next_page_url = page->next_page_url;
    if (!CommitPage(task, path, *std::move(page)) || next_page_url.empty()) {
      return;
    }
    const absl::Status looping = guard.Visit(next_page_url);
    if (!looping.ok()) {
      CommitFailure(task, looping);
      return;
    }
    task.page_url = next_page_url;
    ++task.page_number;
    Refill(/*for_itself=*/0);
  }
}

bool Crawler::CommitPage(const FrontierTask& task,
                         const std::vector<std::string>& path,
                         bim360::FolderPage page) {
  const catalog::ListedPage judged =
      JudgePage(std::move(page), path, options_.filter);
  const bool committed = Commit([&] {
    return store_.CommitFolderPage(options_.backup, task, judged,
                                   options_.full_recheck);
  });
  if (committed && !judged.items.empty() && options_.on_transfers) {
    options_.on_transfers();
  }
  return committed;
}

void Crawler::CommitFailure(const FrontierTask& task,
                            const absl::Status& status) {
  if (absl::IsUnauthenticated(status) || absl::IsCancelled(status)) {
    Fail(status);
    return;
  }
  const absl::string_view reason = status.message();
  Commit([&] {
    if (absl::IsNotFound(status)) {
      return store_.CommitNotFound(options_.backup, task, reason);
    }
    if (absl::IsPermissionDenied(status)) {
      return store_.CommitDenied(options_.backup, task, reason);
    }
    return store_.CommitUnlisted(options_.backup, task, reason);
  });
}

}  // namespace bimbackup::crawl
