#include "services/coordinator/crawl/crawler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/catalog_error.h"

namespace bimbackup::crawl {
namespace {

// Autodesk's published rate for folder pages.
constexpr double kFolderPagesAMinute = 300;

// Tasks are taken together with some for whoever comes next, as each taking
// looks through all that are in hand. Not many, so that what is new still goes
// first and the frontier stays short.
constexpr int kThreadsForASpareTask = 4;

// Between attempts to write to a catalog that has no room.
constexpr absl::Duration kCatalogWait = absl::Seconds(1);

constexpr char kTimeIsUp[] =
    "the run's time was up before everything was listed";

}  // namespace

int64_t RecheckFolders(absl::Duration recheck_budget, double api_budget) {
  const double share = std::isfinite(api_budget) ? api_budget : 1.0;
  const double minutes = absl::ToDoubleMinutes(recheck_budget);
  return static_cast<int64_t>(minutes * kFolderPagesAMinute * share);
}

Crawler::Crawler(bim360::Bim360Client& client, catalog::CrawlStore& store,
                 Clock& clock, CrawlerOptions options)
    : client_(client),
      store_(store),
      clock_(clock),
      options_(std::move(options)),
      projects_missed_(options_.filter.projects().begin(),
                       options_.filter.projects().end()) {}

Crawler::~Crawler() {
  Cancel();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<CrawlResult> Crawler::Run() {
  {
    MutexLock lock(mutex_);
    if (!failure_.ok()) return failure_;
    ++busy_;
  }
  ABSL_RETURN_IF_ERROR(Open());
  if (clock_.Monotonic() >= options_.deadline) Stop(kTimeIsUp);
  Refill(std::max(options_.concurrency, 1));
  for (int i = 0; i < std::max(options_.concurrency, 1); ++i) {
    threads_.emplace_back([this] { Work(); });
  }
  {
    MutexLock lock(mutex_);
    --busy_;
    FinishIfDone();
    while (state_ == State::kRunning) {
      if (clock_.WaitUntil(mutex_, changed_, options_.deadline)) continue;
      if (state_ != State::kRunning) break;
      state_ = State::kStopped;
      message_ = kTimeIsUp;
      work_.NotifyAll();
    }
  }
  calls_.request_stop();
  {
    MutexLock lock(mutex_);
    // What is being committed counts; what is still being listed does not.
    while (committing_ > 0) changed_.Wait(mutex_);
    if (!failure_.ok()) return failure_;
  }
  return Close();
}

absl::Status Crawler::Open() {
  catalog::FileFilter wanted;
  if (!options_.filter.WantsEverything()) {
    wanted = [this](absl::string_view project_id,
                    const std::vector<std::string>& path) {
      return options_.filter.WantsProject(project_id, path[0]) &&
             options_.filter.WantsFile(path);
    };
  }
  ABSL_RETURN_IF_ERROR(
      Write([this] { return store_.SetViewer(options_.viewer); }));
  ABSL_RETURN_IF_ERROR(
      Write([&] { return store_.BeginCrawl(options_.backup, wanted); }));
  return Write([this] {
    return store_.PushOldestFolders(options_.backup, options_.recheck_folders)
        .status();
  });
}

absl::StatusOr<CrawlResult> Crawler::Close() {
  CrawlResult result;
  {
    MutexLock lock(mutex_);
    result.message = message_;
  }
  result.complete = result.message.empty();
  ABSL_RETURN_IF_ERROR(Write([&] {
    return store_.EndCrawl(options_.backup,
                           absl::StrCat("not listed: ", result.message));
  }));
  return result;
}

void Crawler::Cancel() {
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    changed_.NotifyAll();
  }
  Fail(absl::CancelledError("the backup was cancelled"));
}

void Crawler::Fail(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) return;
    state_ = State::kStopped;
    failure_ = status;
    changed_.NotifyAll();
    work_.NotifyAll();
  }
  calls_.request_stop();
}

void Crawler::Stop(absl::string_view message) {
  MutexLock lock(mutex_);
  if (state_ != State::kRunning) return;
  state_ = State::kStopped;
  message_ = std::string(message.data(), message.size());
  changed_.NotifyAll();
  work_.NotifyAll();
}

bool Crawler::Commit(const std::function<absl::Status()>& commit) {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) return false;
    ++committing_;
  }
  const absl::Status status = Write(commit);
  if (!status.ok()) Fail(status);
  MutexLock lock(mutex_);
  // Only what has been stopped waits for commits.
  if (--committing_ == 0 && state_ != State::kRunning) changed_.NotifyAll();
  return status.ok();
}

absl::Status Crawler::Write(const std::function<absl::Status()>& change) {
  absl::Status status = change();
  const bool paused = catalog::MayPassInCatalog(status);
  while (catalog::MayPassInCatalog(status) && AwaitCatalog(status)) {
    status = change();
  }
  if (paused && status.ok() && options_.on_pause) options_.on_pause(status);
  return status;
}

bool Crawler::AwaitCatalog(const absl::Status& status) {
  spdlog::warn("the crawl waits: {}", status);
  if (options_.on_pause) options_.on_pause(status);
  const absl::Duration next = clock_.Monotonic() + kCatalogWait;
  MutexLock lock(mutex_);
  // Not `work_`, whose news are for one thread each.
  while (!cancelled_ && failure_.ok() && clock_.Monotonic() < next) {
    clock_.WaitUntil(mutex_, changed_, next);
  }
  return !cancelled_ && failure_.ok();
}

void Crawler::Work() {
  while (std::optional<catalog::FrontierTask> task = NextTask()) {
    Process(*task);
    EndTask(task->task_id);
  }
}

std::optional<catalog::FrontierTask> Crawler::NextTask() {
  MutexLock lock(mutex_);
  ++idle_;
  while (ready_.empty() && state_ == State::kRunning) work_.Wait(mutex_);
  --idle_;
  if (ready_.empty()) return std::nullopt;
  catalog::FrontierTask task = std::move(ready_.back());
  ready_.pop_back();
  ++busy_;
  return task;
}

void Crawler::Refill(int for_itself) {
  int wanted = 0;
  {
    MutexLock lock(mutex_);
    if (state_ != State::kRunning) return;
    wanted = for_itself + idle_ - static_cast<int>(ready_.size());
  }
  if (wanted <= 0) return;
  absl::StatusOr<std::vector<catalog::FrontierTask>> tasks =
      store_.TakeTasks(wanted + options_.concurrency / kThreadsForASpareTask);
  if (!tasks.ok()) {
    Fail(tasks.status());
    return;
  }
  {
    MutexLock lock(mutex_);
    // The newest, which comes first, is to be taken first: from the back.
    for (auto task = tasks->rbegin(); task != tasks->rend(); ++task) {
      ready_.push_back(std::move(*task));
    }
  }
  for (size_t i = 0; i < tasks->size(); ++i) work_.NotifyOne();
}

void Crawler::EndTask(int64_t task_id) {
  store_.ReleaseTask(task_id);
  // Whoever was the last to commit sees all tasks that there are: while one
  // is left, a thread that is done finds it here.
  Refill(/*for_itself=*/1);
  MutexLock lock(mutex_);
  --busy_;
  FinishIfDone();
}

void Crawler::FinishIfDone() {
  if (busy_ > 0 || !ready_.empty() || state_ != State::kRunning) return;
  state_ = State::kFinished;
  changed_.NotifyAll();
  work_.NotifyAll();
}

void Crawler::NoteAnswer(const absl::Status& status) {
  const bool unanswered =
      absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  const int bound = 2 * options_.concurrency + 20;
  {
    MutexLock lock(mutex_);
    unanswered_ = unanswered ? unanswered_ + 1 : 0;
    if (unanswered_ < bound) return;
  }
  Stop(absl::StrCat("Autodesk did not answer ", bound,
                    " listings in a row, the last: ", status.message()));
}

}  // namespace bimbackup::crawl
