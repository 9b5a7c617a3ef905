#include "services/coordinator/lease/signer.h"

#include <iterator>
#include <utility>

#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {
namespace {

// "urn:adsk.objects:os.object:<bucket>".
std::string BucketOf(const std::string& storage_urn) {
  return storage_urn.substr(0, storage_urn.find('/'));
}

// Whether the call may be answered otherwise in a moment.
bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status) || absl::IsUnauthenticated(status);
}

}  // namespace

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

void Signer::Submit(std::vector<SigningJob> jobs) {
  if (jobs.empty()) return;
  MutexLock lock(mutex_);
  for (SigningJob& job : jobs) {
    jobs_.push_back({std::move(job), calls_.get_token()});
  }
  WakeThreads();
}

void Signer::WakeThreads() {
  const int wanted = static_cast<int>(jobs_.size()) - idle_;
  for (int i = 0; i < wanted; ++i) {
    if (static_cast<int>(threads_.size()) >= max_threads_ || stopping_) break;
    threads_.emplace_back([this] { Run(); });
  }
  changed_.NotifyAll();
}

void Signer::ForgetRefusals() {
  MutexLock lock(mutex_);
  std::erase_if(buckets_, [](const auto& entry) {
    return entry.second == Batches::kRefused;
  });
}

int Signer::signed_by_a_call() const {
  MutexLock lock(mutex_);
  for (const auto& [bucket, batches] : buckets_) {
    if (batches == Batches::kAllowed) return bim360::kMaxSignedTogether;
  }
  return 1;
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
  return Checked(client_.SignDownload(storage_urn, kUrlLife, cancel));
}

absl::StatusOr<bim360::SignedDownload> Signer::Checked(
    absl::StatusOr<bim360::SignedDownload> download) const {
  ABSL_RETURN_IF_ERROR(download.status());
  for (const bim360::SignedRange& range : download->ranges) {
    ABSL_RETURN_IF_ERROR(policy_.Check(range.url));
  }
  return download;
}

std::vector<Signer::Job> Signer::TakeJobs() {
  std::vector<Job> taken;
  taken.push_back(std::move(jobs_.front()));
  jobs_.pop_front();
  if (taken[0].alone || jobs_.empty()) return taken;
  const std::string bucket = BucketOf(taken[0].signing.storage_urn);
  Batches& batches = buckets_[bucket];
  if (batches == Batches::kTrying || batches == Batches::kRefused) {
    return taken;
  }
  for (auto it = jobs_.begin();
       it != jobs_.end() && taken.size() < bim360::kMaxSignedTogether;) {
    if (it->alone || BucketOf(it->signing.storage_urn) != bucket) {
      ++it;
      continue;
    }
    taken.push_back(std::move(*it));
    it = jobs_.erase(it);
  }
  if (taken.size() > 1 && batches == Batches::kUntried) {
    batches = Batches::kTrying;
  }
  return taken;
}

void Signer::Run() {
  while (true) {
    std::vector<Job> jobs;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (jobs_.empty() && !stopping_) changed_.Wait(mutex_);
      --idle_;
      if (stopping_) return;
      jobs = TakeJobs();
    }
    if (jobs.size() == 1) {
      SignOne(jobs[0]);
    } else {
      SignBatch(std::move(jobs));
    }
  }
}

void Signer::SignOne(const Job& job) {
  Finish(job, Sign(job.signing.storage_urn, job.cancel));
}

void Signer::Finish(const Job& job,
                    absl::StatusOr<bim360::SignedDownload> download) {
  if (job.cancel.stop_requested()) return;
  MaybeCrash("coordinator.signed");
  done_(job.signing.transfer_id, std::move(download));
}

void Signer::SignBatch(std::vector<Job> jobs) {
  std::vector<std::string> urns;
  for (const Job& job : jobs) urns.push_back(job.signing.storage_urn);
  // The jobs of one batch may be of two runs: each looks at its own token.
  auto downloads = client_.SignDownloads(urns, kUrlLife, jobs.back().cancel);
  {
    MutexLock lock(mutex_);
    Batches& batches = buckets_[BucketOf(urns[0])];
    if (downloads.ok()) {
      batches = Batches::kAllowed;
    } else if (!IsTransient(downloads.status())) {
      batches = Batches::kRefused;
    } else if (batches == Batches::kTrying) {
      batches = Batches::kUntried;
    }
  }
  std::vector<Job> again;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (downloads.ok() && (*downloads)[i].ok()) {
      Finish(jobs[i], Checked(std::move((*downloads)[i])));
    } else {
      // A call of its own says better what is wrong.
      jobs[i].alone = true;
      again.push_back(std::move(jobs[i]));
    }
  }
  if (again.empty()) return;
  MutexLock lock(mutex_);
  jobs_.insert(jobs_.begin(), std::make_move_iterator(again.begin()),
               std::make_move_iterator(again.end()));
  WakeThreads();
}

}  // namespace bimbackup::lease
