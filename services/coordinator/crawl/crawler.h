// Lists the account, many folders at a time, into the catalog.

#ifndef SERVICES_COORDINATOR_CRAWL_CRAWLER_H_
#define SERVICES_COORDINATOR_CRAWL_CRAWLER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
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
  // Waits for calls that a stopped crawl left in flight; they have deadlines
  // of their own.
  ~Crawler();

  // Opens the backup's crawl, lists until the frontier is empty or the
  // deadline has come, and closes it. Once. Errors mean that the run has
  // failed, with a message that says what to do: UNAUTHENTICATED (credentials
  // refused), PERMISSION_DENIED and FAILED_PRECONDITION (app not provisioned,
  // wrong account, no project), NOT_FOUND (a project that the filter names),
  // UNAVAILABLE and DATA_LOSS (the projects could not be listed), CANCELLED,
  // and the catalog's.
  absl::StatusOr<CrawlResult> Run();

  // Makes Run() return CANCELLED at once. Idempotent.
  void Cancel();

 private:
  enum class State { kRunning, kFinished, kStopped };

  absl::Status Open();
  void Work();
  std::optional<catalog::FrontierTask> NextTask() ABSL_LOCKS_EXCLUDED(mutex_);
  void Process(const catalog::FrontierTask& task);
  // Takes tasks for itself, where asked, and for idle threads.
  void Refill(bool for_itself) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the crawl with a failed run.
  void Fail(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the crawl early, but well.
  void Stop(absl::string_view message) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs `commit` unless the crawl has been stopped; its error fails the run.
  // Returns whether it was committed.
  bool Commit(const std::function<absl::Status()>& commit)
      ABSL_LOCKS_EXCLUDED(mutex_);

  void ListProjects(catalog::FrontierTask task);
  bool CommitProjects(const catalog::FrontierTask& task,
                      const bim360::ProjectPage& page);
  void ListTopFolders(const catalog::FrontierTask& task);
  // Lists a folder's remaining pages; true where its first page was answered
  // with NOT_FOUND or PERMISSION_DENIED and `may_fall_back`.
  bool ListFolder(catalog::FrontierTask task, bool may_fall_back);
  void CommitFailure(const catalog::FrontierTask& task,
                     const absl::Status& status);
  absl::Status ProjectListingError(const absl::Status& status) const;
  void CountFailure(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

  bim360::Bim360Client& client_;
  catalog::CrawlStore& store_;
  Clock& clock_;
  const CrawlerOptions options_;

  Mutex mutex_;
  CondVar changed_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kRunning;
  // Why the crawl was stopped.
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::string message_ ABSL_GUARDED_BY(mutex_);
  std::deque<catalog::FrontierTask> ready_ ABSL_GUARDED_BY(mutex_);
  // Threads that have a task or look for some; threads that wait for one.
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  int committing_ ABSL_GUARDED_BY(mutex_) = 0;
  // Listings in a row that Autodesk did not answer.
  int unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of all project pages.
  int64_t projects_seen_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_CRAWLER_H_
