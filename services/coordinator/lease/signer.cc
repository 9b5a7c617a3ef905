#include "services/coordinator/lease/signer.h"

#include <algorithm>
#include <utility>

#include "services/common/failpoint.h"
#include "services/common/status_macros.h"

namespace bimbackup::lease {
namespace {

// Batches of a bucket that may fail in a row before no more are tried.
constexpr int kMaxFailedBatches = 3;

// "urn:adsk.objects:os.object:<bucket>".
std::string BucketOf(const std::string& storage_urn) {
  return storage_urn.substr(0, storage_urn.find('/'));
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
    Bucket& bucket = buckets_[BucketOf(job.storage_urn)];
    bucket.waiting.push_back(
        {std::move(job), calls_.get_token(), ++last_number_});
  }
  WakeThreads();
}

void Signer::WakeThreads() {
  const int wanted = static_cast<int>(CallsDue()) - idle_;
  for (int i = 0; i < wanted; ++i) {
    if (static_cast<int>(threads_.size()) >= max_threads_ || stopping_) break;
    threads_.emplace_back([this] { Run(); });
  }
  changed_.NotifyAll();
}

void Signer::ForgetRefusals() {
  MutexLock lock(mutex_);
  for (auto& [urn, bucket] : buckets_) {
    bucket.failed = 0;
    if (bucket.batches == Batches::kRefused) {
      bucket.batches = Batches::kUntried;
    }
  }
}

int Signer::signed_by_a_call() const {
  MutexLock lock(mutex_);
  for (const auto& [urn, bucket] : buckets_) {
    if (bucket.batches == Batches::kAllowed) return bim360::kMaxSignedTogether;
  }
  return 1;
}

void Signer::CancelCalls() {
  std::stop_source running;
  {
    MutexLock lock(mutex_);
    alone_.clear();
    for (auto& [urn, bucket] : buckets_) bucket.waiting.clear();
    std::swap(running, calls_);
  }
  running.request_stop();
}

absl::StatusOr<bim360::SignedDownload> Signer::SignNow(
    absl::string_view storage_urn, const std::stop_token& caller) {
  std::stop_token run;
  {
    MutexLock lock(mutex_);
    run = calls_.get_token();
  }
  std::stop_source either;
  const auto stop = [&either] { either.request_stop(); };
  const std::stop_callback with_run(run, stop);
  const std::stop_callback with_caller(caller, stop);
  return Sign(storage_urn, either.get_token());
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

size_t Signer::CallsDue(const Bucket& bucket) {
  const size_t jobs = bucket.waiting.size();
  if (bucket.batches != Batches::kAllowed) return jobs;
  const size_t full = jobs / bim360::kMaxSignedTogether;
  return full == 0 && jobs > 0 && bucket.calls == 0 ? 1 : full;
}

size_t Signer::CallsDue() const {
  size_t due = alone_.size();
  for (const auto& [urn, bucket] : buckets_) due += CallsDue(bucket);
  return due;
}

std::vector<Signer::Job> Signer::TakeJobs() {
  std::vector<Job> taken;
  if (!alone_.empty()) {
    taken.push_back(std::move(alone_.front()));
    alone_.pop_front();
    ++buckets_[BucketOf(taken[0].signing.storage_urn)].calls;
    return taken;
  }
  Bucket* oldest = nullptr;
  for (auto& [urn, bucket] : buckets_) {
    if (CallsDue(bucket) == 0) continue;
    if (oldest == nullptr ||
        bucket.waiting.front().number < oldest->waiting.front().number) {
      oldest = &bucket;
    }
  }
  const bool together = oldest->batches == Batches::kUntried ||
                        oldest->batches == Batches::kAllowed;
  const size_t count =
      together ? std::min(oldest->waiting.size(), bim360::kMaxSignedTogether)
               : 1;
  for (size_t i = 0; i < count; ++i) {
    taken.push_back(std::move(oldest->waiting.front()));
    oldest->waiting.pop_front();
  }
  if (count > 1 && oldest->batches == Batches::kUntried) {
    oldest->batches = Batches::kTrying;
  }
  ++oldest->calls;
  return taken;
}

void Signer::Run() {
  while (true) {
    std::vector<Job> jobs;
    {
      MutexLock lock(mutex_);
      ++idle_;
      while (CallsDue() == 0 && !stopping_) changed_.Wait(mutex_);
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
  absl::StatusOr<bim360::SignedDownload> download =
      Sign(job.signing.storage_urn, job.cancel);
  {
    // What this makes due is for this thread, which is free now.
    MutexLock lock(mutex_);
    EndCall(job.signing.storage_urn);
  }
  Finish(job, std::move(download));
}

void Signer::Finish(const Job& job,
                    absl::StatusOr<bim360::SignedDownload> download) {
  if (job.cancel.stop_requested()) return;
  MaybeCrash("coordinator.signed");
  done_(job.signing.transfer_id, std::move(download));
}

void Signer::EndCall(const std::string& storage_urn) {
  const auto it = buckets_.find(BucketOf(storage_urn));
  Bucket& bucket = it->second;
  --bucket.calls;
  const bool told_nothing =
      bucket.batches == Batches::kUntried && bucket.failed == 0;
  if (told_nothing && bucket.calls == 0 && bucket.waiting.empty()) {
    buckets_.erase(it);
  }
}

void Signer::NoteBatch(const absl::Status& status, Bucket& bucket) {
  if (bucket.batches == Batches::kRefused) return;
  if (status.ok()) {
    bucket.batches = Batches::kAllowed;
    bucket.failed = 0;
    return;
  }
  if (bucket.batches == Batches::kTrying) bucket.batches = Batches::kUntried;
  if (absl::IsCancelled(status)) return;
  if (absl::IsPermissionDenied(status) ||
      ++bucket.failed >= kMaxFailedBatches) {
    bucket.batches = Batches::kRefused;
  }
}

void Signer::SignBatch(std::vector<Job> jobs) {
  std::vector<std::string> urns;
  for (const Job& job : jobs) urns.push_back(job.signing.storage_urn);
  // All of one run: CancelCalls() leaves none waiting.
  auto downloads = client_.SignDownloads(urns, kUrlLife, jobs[0].cancel);
  std::vector<Job> again;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (downloads.ok() && (*downloads)[i].ok()) continue;
    // A call of its own says better what is wrong.
    again.push_back(std::move(jobs[i]));
  }
  {
    MutexLock lock(mutex_);
    NoteBatch(downloads.status(), buckets_[BucketOf(urns[0])]);
    EndCall(urns[0]);
    for (Job& job : again) alone_.push_back(std::move(job));
    if (!again.empty()) WakeThreads();
  }
  if (!downloads.ok()) return;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!(*downloads)[i].ok()) continue;
    Finish(jobs[i], Checked(std::move((*downloads)[i])));
  }
}

}  // namespace bimbackup::lease
