#include "services/coordinator/lease/signer.h"

#include <utility>

#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {

Signer::Signer(bim360::Bim360Client& client, const http::HostPolicy& policy,
               int max_threads, Done done)
    : client_(client),
      policy_(policy),
      max_threads_(max_threads),
      done_(std::move(done)) {}

Signer::~Signer() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

void Signer::Submit(int64_t transfer_id, absl::string_view storage_urn) {
  MutexLock lock(mutex_);
  jobs_.push_back({transfer_id,
                   std::string(storage_urn.data(), storage_urn.size()),
                   calls_.get_token()});
  if (idle_ < static_cast<int>(jobs_.size()) &&
      static_cast<int>(threads_.size()) < max_threads_ && !stopping_) {
    threads_.emplace_back([this] { Run(); });
    return;
  }
  changed_.NotifyOne();
}

void Signer::CancelCalls() {
  std::stop_source running;
  {
    MutexLock lock(mutex_);
    jobs_.clear();
    std::swap(running, calls_);
  }
  running.request_stop();
}

absl::StatusOr<bim360::SignedDownload> Signer::Sign(
    absl::string_view storage_urn) {
  std::stop_token cancel;
  {
    MutexLock lock(mutex_);
    cancel = calls_.get_token();
  }
  return Sign(storage_urn, cancel);
}

absl::StatusOr<bim360::SignedDownload> Signer::Sign(
    absl::string_view storage_urn, const std::stop_token& cancel) {
  ABSL_ASSIGN_OR_RETURN(bim360::SignedDownload download,
                        client_.SignDownload(storage_urn, kUrlLife, cancel));
  for (const bim360::SignedRange& range : download.ranges) {
    ABSL_RETURN_IF_ERROR(policy_.Check(range.url));
  }
  return download;
}

void Signer::Run() {
  while (true) {
    Job job;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (jobs_.empty() && !stopping_) changed_.Wait(mutex_);
      --idle_;
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    absl::StatusOr<bim360::SignedDownload> download =
        Sign(job.storage_urn, job.cancel);
    if (job.cancel.stop_requested()) continue;
    MaybeCrash("coordinator.signed");
    done_(job.transfer_id, std::move(download));
  }
}

}  // namespace bimbackup::lease
