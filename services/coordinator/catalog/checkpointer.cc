#include "services/coordinator/catalog/checkpointer.h"

#include <algorithm>
#include <utility>

#include "services/common/logging.h"

namespace bimbackup::catalog {
namespace {

// 16 MB: pages that change often are moved once for many changes.
constexpr int64_t kPages = 4'000;

// Where writers never rest, the log grows on behind what is moved. At this
// length they wait once until it is empty.
constexpr int64_t kMostPages = 4 * kPages;

// Somebody who reads for long keeps the log from being begun anew.
constexpr char kShortWait[] = "PRAGMA busy_timeout = 200";

constexpr char kMove[] = "PRAGMA wal_checkpoint(PASSIVE)";

constexpr char kEmpty[] = "PRAGMA wal_checkpoint(RESTART)";

}  // namespace

Checkpointer::Checkpointer(std::unique_ptr<Database> database)
    : database_(std::move(database)), next_(kPages), most_(kMostPages) {
  database_->Execute(kShortWait);
  thread_ = std::thread([this] { Run(); });
}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void Checkpointer::Note(int64_t pages) {
  MutexLock lock(mutex_);
  if (pages < pages_) {
    // The log was begun anew.
    next_ = kPages;
    most_ = kMostPages;
  }
  pages_ = pages;
  if (pages_ < next_) return;
  changed_.NotifyAll();
  while (pages_ >= most_ && !stop_) changed_.Wait(mutex_);
}

bool Checkpointer::AwaitPages() {
  MutexLock lock(mutex_);
  while (pages_ < next_ && !stop_) changed_.Wait(mutex_);
  return !stop_;
}

void Checkpointer::Run() {
  while (AwaitPages()) {
    // Most of them, while others write.
    database_->Execute(kMove);
    MutexLock lock(mutex_);
    next_ = std::min(pages_ + kPages, most_);
    if (pages_ < most_) continue;
    // Whoever writes waits in Note().
    const int64_t left = Empty() ? 0 : pages_;
    next_ = left + kPages;
    most_ = left + kMostPages;
    pages_ = 0;
    changed_.NotifyAll();
  }
}

bool Checkpointer::Empty() {
  bool busy = true;
  {
    Query query(*database_, kEmpty);
    busy = !query.Next() || query.Int(0) != 0;
  }
  // Nothing is lost: the pages stay in the log, and the next commit that finds
  // no room says so.
  const absl::Status status = database_->TakeStatus();
  if (!status.ok()) spdlog::warn("the log cannot be emptied: {}", status);
  return status.ok() && !busy;
}

}  // namespace bimbackup::catalog
