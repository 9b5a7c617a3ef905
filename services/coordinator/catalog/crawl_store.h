// The catalog's account tree and the frontier: what the crawl writes.

#ifndef SERVICES_COORDINATOR_CATALOG_CRAWL_STORE_H_
#define SERVICES_COORDINATOR_CATALOG_CRAWL_STORE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/coordinator/catalog/types.h"

namespace bimbackup::catalog {

// What a page's folders and items are after the crawl has judged them.
struct ListedFolder {
  bim360::Folder folder;
  // Outside the backup's filter: known, but not to be listed now, and its
  // content stands as it was.
  bool filtered_out = false;
};

struct ListedItem {
  bim360::Item item;
  // Outside the backup's filter: an entry stands as it was, a new one is not
  // made, and the folder is listed again by the next backup.
  bool filtered_out = false;
  // Why a version has no content; empty where it has.
  std::string no_content_reason;
};

struct ListedPage {
  std::vector<ListedFolder> folders;
  std::vector<ListedItem> items;
  // What on this page could not be read; empty where all could. The folder
  // is then named as unlisted, nothing in it is taken for missing, and the
  // next backup lists it again; what could be read counts.
  std::string defect;
  // On the last page: whether a file or folder of this name, which is in no
  // page, stands as it was, because the backup's filter does not look at it;
  // then the folder is listed again by the next backup. Pure and quick;
  // empty where everything is looked at.
  std::function<bool(absl::string_view name, bool is_folder)> keeps;
  // Empty on the last page.
  std::string next_page_url;
};

// Folders nested deeper than this are not listed.
inline constexpr int kMaxFolderDepth = 200;

// Whether a backup's filter wants this file, whose path starts with the
// project's name.
using FileFilter = std::function<bool(absl::string_view project_id,
                                      const std::vector<std::string>& path)>;

// Thread-safe. The frontier outlives backups: what one could not list, the
// next one finds there. Each commit is one transaction together with its
// effect on the frontier, on the transfers (an item whose bytes are neither
// stored nor asked for becomes one), on `changed` flags and on the backup's
// counters. Errors as BackupStore's.
class CrawlStore {
 public:
  virtual ~CrawlStore() = default;

  // Says who looks from now on; call before BeginCrawl. What one viewer is
  // shown says nothing about what another would be: unless `viewer` is the one
  // that looked before, no rollup that was seen so far counts, so that every
  // folder is listed once more, by this backup or, where it does not come to
  // it, by a later one. Idempotent.
  virtual absl::Status SetViewer(absl::string_view viewer) = 0;

  // Opens a backup's crawl: pushes the listing of projects; unblocks what
  // earlier backups could not list; makes a transfer of every known version
  // that is not stored, and of every damaged blob, that `wanted` (all, where
  // empty) wants.
  // Idempotent: after a restart it changes nothing.
  virtual absl::Status BeginCrawl(BackupNumber backup,
                                  const FileFilter& wanted) = 0;

  // Pushes the up to `count` folders that went unlisted longest, of those
  // that are not in the frontier. Once a backup; idempotent.
  virtual absl::StatusOr<int64_t> PushOldestFolders(BackupNumber backup,
                                                    int64_t count) = 0;

  // Hands out up to `limit` tasks, newest first, that are neither handed out
  // nor blocked; ReleaseTask gives one back. While projects are being listed
  // nothing else is handed out.
  virtual absl::StatusOr<std::vector<FrontierTask>> TakeTasks(int limit) = 0;
  virtual void ReleaseTask(int64_t task_id) = 0;

  // One page of the hub's projects. On the last, projects that were in no
  // page are marked vanished, unless the list is empty or some page had a
  // defect. A defect becomes the backup's message, unless it has one, so that
  // a process that takes the backup up knows of it. `wanted` tells, per project
  // of the page, whether the backup's filter lets it be listed.
  virtual absl::Status CommitProjectPage(
      BackupNumber backup, const FrontierTask& task,
      const std::vector<bim360::Project>& projects,
      const std::vector<bool>& wanted, absl::string_view defect,
      absl::string_view next_page_url) = 0;

  // A project's topmost folders, complete. Files that lie beside them stand
  // as they were.
  virtual absl::Status CommitTopFolders(
      BackupNumber backup, const FrontierTask& task,
      const std::vector<ListedFolder>& folders) = 0;

  // One page of a folder, or, with a kTopFolders task, of the project's root
  // folder. A sub-folder that lies above the folder is refused: that is a
  // cycle, and counts as a defect. A sub-folder whose rollup is not empty and
  // equals the one at its last complete listing is skipped, unless
  // `recheck_all`; others are pushed. On the last page, what was in no page and
  // has not turned up elsewhere is taken for missing until the crawl's end.
  virtual absl::Status CommitFolderPage(BackupNumber backup,
                                        const FrontierTask& task,
                                        const ListedPage& page,
                                        bool recheck_all) = 0;

  // The task's folder or project could not be listed: it is blocked until
  // the next backup, its content is carried.
  virtual absl::Status CommitUnlisted(BackupNumber backup,
                                      const FrontierTask& task,
                                      absl::string_view reason) = 0;

  // As CommitUnlisted, for a folder or project that Autodesk forbids to list.
  // Where AcceptStore::AcceptDenied was told so, it is neither named nor
  // counted, and leaves the frontier.
  virtual absl::Status CommitDenied(BackupNumber backup,
                                    const FrontierTask& task,
                                    absl::string_view reason) = 0;

  // As CommitUnlisted, for a folder that does not exist (any more): its
  // parent is pushed, unless this backup has listed it, to learn whether the
  // folder is gone.
  virtual absl::Status CommitNotFound(BackupNumber backup,
                                      const FrontierTask& task,
                                      absl::string_view reason) = 0;

  // The task lies outside the backup's filter: it is blocked until the next
  // backup, and its content stands as it was.
  virtual absl::Status CommitFiltered(BackupNumber backup,
                                      const FrontierTask& task) = 0;

  // Closes the crawl. What is missing and turned up nowhere is removed, or
  // guarded where it is suspiciously much (more than 20 % and more than 100
  // of a project's files, or more than 100 with which a folder that still
  // stands became empty), with everything below it. In a project of which
  // something was not listed that was listed before, it stands until the
  // next backup. What is left in the frontier becomes unlisted, for
  // `left_open_reason`. Idempotent.
  virtual absl::Status EndCrawl(BackupNumber backup,
                                absl::string_view left_open_reason) = 0;

  // Names from the project's root, which has none, down to and with the
  // folder; NOT_FOUND.
  virtual absl::StatusOr<std::vector<std::string>> GetFolderPath(
      absl::string_view project_id, absl::string_view folder_id) = 0;

  virtual absl::StatusOr<ProjectRecord> GetProject(
      absl::string_view project_id) = 0;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CRAWL_STORE_H_
