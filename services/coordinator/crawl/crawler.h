// Lists the account, many folders at a time, into the catalog.

#ifndef SERVICES_COORDINATOR_CRAWL_CRAWLER_H_
#define SERVICES_COORDINATOR_CRAWL_CRAWLER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/crawl/path_filter.h"

namespace bimbackup::crawl {

struct CrawlerOptions {
  catalog::BackupNumber backup = 0;
  std::string hub_id;
  // For messages that say what to do; public.
  std::string client_id;
  // Names who looks, with all that decides what Autodesk shows and what is
  // taken of it: rollups that another viewer saw are not believed.
  std::string viewer;
  // Calls in flight at most.
  int concurrency = 32;
  PathFilter filter;
  // List every folder again, whatever its rollup.
  bool full_recheck = false;
  // How many of the folders that went unlisted longest to list again.
  int64_t recheck_folders = 0;
  // When to end the crawl unfinished, on the clock's monotonic scale.
  absl::Duration deadline = absl::InfiniteDuration();
  // Called, outside every lock, by any thread, when transfers may have
  // appeared; returns soon. May be empty.
  std::function<void()> on_transfers;
  // Called likewise when the catalog cannot be written, with why, and with OK
  // once it can again: the crawl waits meanwhile.
  std::function<void(const absl::Status&)> on_pause;
};

struct CrawlResult {
  // Everything was listed, or named as unlisted. False where the crawl was
  // ended early; then `message` says why, and the rest stays in the frontier.
  bool complete = true;
  std::string message;
};

// How many folders to list again in a run: what `recheck_budget` allows at
// Autodesk's 300 folder pages a minute times `api_budget`. A budget without
// limit counts as the published rate.
int64_t RecheckFolders(absl::Duration recheck_budget, double api_budget);

// One crawl of one backup; also goes on with one that an earlier process
// began. Owned by the backup's run. Thread-safe.
class Crawler {
 public:
  // All outlive the crawler.
  Crawler(bim360::Bim360Client& client, catalog::CrawlStore& store,
          Clock& clock, CrawlerOptions options);
  // Waits for the threads of a stopped crawl, whose calls were cancelled.
  ~Crawler();

  // Opens the backup's crawl, lists until the frontier is empty or the
  // deadline has come, and closes it. Once. Errors mean that the run has
  // failed, with a message that says what to do: UNAUTHENTICATED (credentials
  // refused), PERMISSION_DENIED and FAILED_PRECONDITION (app not provisioned,
  // wrong account, no project), NOT_FOUND (a project that the filter names),
  // UNAVAILABLE and DATA_LOSS (the projects could not be listed), CANCELLED,
  // and the catalog's.
  absl::StatusOr<CrawlResult> Run();

  // Makes Run() return CANCELLED at once, and ends the calls that it waits
  // for. Idempotent.
  void Cancel();

 private:
  enum class State { kRunning, kFinished, kStopped };

  absl::Status Open();
  absl::StatusOr<CrawlResult> Close();

  // A thread's life: takes a task, lists, takes the next.
  void Work();
  std::optional<catalog::FrontierTask> NextTask() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gets `for_itself` tasks ready, where there are so many, one for each idle
  // thread, and a few to spare.
  void Refill(int for_itself) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndTask(int64_t task_id) ABSL_LOCKS_EXCLUDED(mutex_);
  void FinishIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Ends the crawl: with a failed run, or early but well.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop(absl::string_view message) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs `commit` unless the crawl has been stopped; waits while the catalog
  // has no room. Another error fails the run. Returns whether it was committed.
  bool Commit(const std::function<absl::Status()>& commit)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs `change` again and again while the catalog has no room for it.
  absl::Status Write(const std::function<absl::Status()>& change)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits a little before the catalog is asked again; false where the crawl
  // has failed or was cancelled.
  bool AwaitCatalog(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  void Process(const catalog::FrontierTask& task);
  void ListProjects(catalog::FrontierTask task);
  // What the filter looks at: the project's name, then those of the folders.
  absl::StatusOr<std::vector<std::string>> PathOf(
      const catalog::FrontierTask& task);
  void ListTopFolders(const catalog::FrontierTask& task);
  void ListFolder(catalog::FrontierTask task,
                  const std::vector<std::string>& path);
  // Commits one page; false when the listing is not to be gone on with.
  bool CommitPage(const catalog::FrontierTask& task,
                  const std::vector<std::string>& path,
                  bim360::FolderPage page);
  void CommitFailure(const catalog::FrontierTask& task,
                     const absl::Status& status);
  void NoteAnswer(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void NoteProjects(const bim360::ProjectPage& page, absl::string_view defect)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // What is wrong with the projects that were seen, once all were.
  absl::Status CheckProjects() ABSL_LOCKS_EXCLUDED(mutex_);

  bim360::Bim360Client& client_;
  catalog::CrawlStore& store_;
  Clock& clock_;
  const CrawlerOptions options_;
  // Ends the calls that are under way.
  std::stop_source calls_;

  Mutex mutex_;
  // The crawl has ended, or a commit has.
  CondVar changed_;
  // There is a task, or there will be none.
  CondVar work_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kRunning;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Why the crawl failed; OK unless it did.
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // CrawlResult::message.
  std::string message_ ABSL_GUARDED_BY(mutex_);
  std::deque<catalog::FrontierTask> ready_ ABSL_GUARDED_BY(mutex_);
  // Threads that have a task; threads that wait for one.
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  int committing_ ABSL_GUARDED_BY(mutex_) = 0;
  // Listings in a row that Autodesk did not answer.
  int unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t projects_seen_ ABSL_GUARDED_BY(mutex_) = 0;
  // Projects of the filter that no page has shown so far.
  std::set<std::string> projects_missed_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_CRAWLER_H_
