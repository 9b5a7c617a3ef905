// Fetches signed URLs, many at a time.

#ifndef SERVICES_COORDINATOR_LEASE_SIGNER_H_
#define SERVICES_COORDINATOR_LEASE_SIGNER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/bim360/bim360_client.h"
#include "clients/http/host_policy.h"
#include "services/common/mutex.h"

namespace bimbackup::lease {

// Asks Autodesk for the longest life that it gives.
inline constexpr absl::Duration kUrlLife = absl::Minutes(60);

// A transfer whose URLs are wanted.
struct SigningJob {
  int64_t transfer_id = 0;
  std::string storage_urn;
};

// A bounded pool of threads, started as they are needed, each of which waits
// for one call at a time: the limiter of the client sets the pace. Whether a
// bucket's objects may be signed in batches is tried once for each bucket and
// run; where that is refused (a 403, or three batches in a row that fail),
// every object has a call of its own. Where it is allowed, less than a full
// batch is sent only while no other call for its bucket runs: what comes
// meanwhile fills the next one. URLs that point to a host that is not allowed
// are refused here. Thread-safe.
class Signer {
 public:
  using Done = std::function<void(
      int64_t transfer_id, absl::StatusOr<bim360::SignedDownload> download)>;

  // `done` is called once for each job, on a thread of the signer's, under no
  // lock. `client` and `policy` outlive the signer.
  Signer(bim360::Bim360Client& client, const http::HostPolicy& policy,
         int max_threads, Done done);
  // Drops what has not begun; waits for the calls that run.
  ~Signer();

  // Use at most max_jobs() whose `done` has not come yet.
  void Submit(std::vector<SigningJob> jobs);

  // A run begins: batches may be tried again.
  void ForgetRefusals();

  // Ends the calls that run with CANCELLED, and drops what has not begun:
  // `done` is called for neither. Later calls are not concerned.
  void CancelCalls();

  // Signs now, on the caller's thread, until `caller` wants no more.
  absl::StatusOr<bim360::SignedDownload> SignNow(absl::string_view storage_urn,
                                                 const std::stop_token& caller);

  int max_jobs() const { return max_threads_ * signed_by_a_call(); }
  // The objects that one call can sign: more than one once a batch went well.
  int signed_by_a_call() const;

 private:
  struct Job {
    SigningJob signing;
    std::stop_token cancel;
    // The jobs are numbered as they come.
    uint64_t number = 0;
  };
  // How a bucket stands to batches.
  enum class Batches { kUntried, kTrying, kAllowed, kRefused };
  struct Bucket {
    Batches batches = Batches::kUntried;
    // Batches that failed since one went well.
    int failed = 0;
    // Calls that run, those for one object included.
    int calls = 0;
    // Jobs that have not begun, oldest first.
    std::deque<Job> waiting;
  };

  void Run();
  // The calls that may go out for what waits, at most.
  static size_t CallsDue(const Bucket& bucket);
  size_t CallsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the jobs of one call that is due; one must be.
  std::vector<Job> TakeJobs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts or wakes a thread for each call, as far as there may be.
  void WakeThreads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A call for this object's bucket has ended.
  void EndCall(const std::string& storage_urn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What a batch's end says of its bucket.
  static void NoteBatch(const absl::Status& status, Bucket& bucket);
  void SignOne(const Job& job);
  void SignBatch(std::vector<Job> jobs);
  void Finish(const Job& job, absl::StatusOr<bim360::SignedDownload> download);
  absl::StatusOr<bim360::SignedDownload> Sign(absl::string_view storage_urn,
                                              const std::stop_token& cancel);
  absl::StatusOr<bim360::SignedDownload> Checked(
      absl::StatusOr<bim360::SignedDownload> download) const;

  bim360::Bim360Client& client_;
  const http::HostPolicy& policy_;
  const int max_threads_;
  const Done done_;
  mutable Mutex mutex_;
  CondVar changed_;
  // By the URN up to its bucket's end.
  std::map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  // Jobs that a batch did not sign, each for a call of its own.
  std::deque<Job> alone_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the calls since the last CancelCalls().
  std::stop_source calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_SIGNER_H_
