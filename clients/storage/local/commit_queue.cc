#include "clients/storage/local/commit_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::storage::local {
namespace {

// A turn's wait hardly grows with its group, so groups may be large.
constexpr size_t kMaxGroup = 256;
// Each holds a file open; callers run far fewer transfers.
constexpr size_t kMaxWaiting = 8192;
// Up to this many, files and folders are waited for one by one, which does
// not wait for what others write to the same disk.
constexpr size_t kFewFiles = 2;

absl::Status PrepareFile(const PendingCommit& commit) {
  struct stat info;
  const int fd = commit.blob->fd();
  if (fstat(fd, &info) != 0) return ErrnoStatus(errno, "look at", "a part");
  if (info.st_size < commit.size) {
    return absl::DataLossError(absl::StrCat(
        "only ", info.st_size, " of ", commit.size, " bytes were written"));
  }
  if (info.st_size > commit.size && ftruncate(fd, commit.size) != 0) {
    return ErrnoStatus(errno, "cut", "a part");
  }
  return absl::OkStatus();
}

}  // namespace

CommitQueue::CommitQueue(const StorageFolders& folders, bool sync_together)
    : folders_(folders),
      sync_together_(sync_together),
      thread_([this] { Run(); }) {}

CommitQueue::~CommitQueue() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void CommitQueue::Add(PendingCommit commit) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      waiting_.push_back(std::move(commit));
      changed_.NotifyOne();
      return;
    }
  }
  Report(std::move(commit),
         absl::UnavailableError("too many blobs wait to be committed"));
}

CommitQueue::Group CommitQueue::Take(bool wait) {
  MutexLock lock(mutex_);
  while (wait && waiting_.empty() && !ending_) changed_.Wait(mutex_);
  const size_t count = std::min(waiting_.size(), kMaxGroup);
  Group group(std::make_move_iterator(waiting_.begin()),
              std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  return group;
}

void CommitQueue::Run() {
  Group moved;
  while (true) {
    Group group = Take(/*wait=*/moved.empty());
    if (group.empty() && moved.empty()) return;
    Prepare(group);
    Sync(group, moved);
    for (PendingCommit& commit : moved) {
      Report(std::move(commit), absl::OkStatus());
    }
    Move(group);
    moved = std::move(group);
  }
}

void CommitQueue::Prepare(Group& group) { Filter(group, PrepareFile); }

void CommitQueue::Sync(Group& written, Group& moved) {
  const bool few = written.size() + moved.size() <= kFewFiles;
  if (sync_together_ && !few && SyncFileSystem(folders_.root.get()).ok()) {
    return;
  }
  // Few, or a share whose server syncfs() may not wait for, or the error of one
  // among many, which this finds.
  Filter(written,
         [](PendingCommit& commit) { return SyncAll(commit.blob->fd()); });
  Filter(moved, [this](PendingCommit& commit) -> absl::Status {
    const std::string key = BlobKey(commit.sha256);
    ABSL_ASSIGN_OR_RETURN(
        const UniqueFd folder,
        OpenFolderAt(folders_.root.get(), key.substr(0, key.rfind('/'))));
    return SyncAll(folder.get());
  });
}

void CommitQueue::Move(Group& group) {
  if (!group.empty()) MaybeCrash("storage.commit.durable");
  Filter(group, [this](PendingCommit& commit) {
    return commit.blob->MoveTo(folders_.root.get(), commit.sha256, commit.size);
  });
  if (!group.empty()) MaybeCrash("storage.commit.moved");
}

void CommitQueue::Filter(
    Group& group, const std::function<absl::Status(PendingCommit&)>& step) {
  Group kept;
  kept.reserve(group.size());
  for (PendingCommit& commit : group) {
    const absl::Status status = step(commit);
    if (status.ok()) {
      kept.push_back(std::move(commit));
    } else {
      Report(std::move(commit), status);
    }
  }
  group = std::move(kept);
}

void CommitQueue::Report(PendingCommit commit, const absl::Status& status) {
  // Let go of the file first, so that whoever is told may take it up again.
  commit.blob.reset();
  commit.done(status);
}

}  // namespace bimbackup::storage::local
