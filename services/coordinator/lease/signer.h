// Fetches signed URLs, many at a time.

#ifndef SERVICES_COORDINATOR_LEASE_SIGNER_H_
#define SERVICES_COORDINATOR_LEASE_SIGNER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/bim360/bim360_client.h"
#include "clients/http/host_policy.h"
#include "services/common/mutex.h"

namespace bimbackup::lease {

// Asks Autodesk for the longest life that it gives.
inline constexpr absl::Duration kUrlLife = absl::Minutes(60);

// A bounded pool of threads, started as they are needed, each of which waits
// for one call at a time: the limiter of the client sets the pace. URLs that
// point to a host that is not allowed are refused here. Thread-safe.
class Signer {
 public:
  using Done = std::function<void(
      int64_t transfer_id, absl::StatusOr<bim360::SignedDownload> download)>;

  // `done` is called once per Submit(), on a thread of the signer's, under no
  // lock. `client` and `policy` outlive the signer. Use at most `max_threads`
  // Submit()s whose `done` has not come yet.
  Signer(bim360::Bim360Client& client, const http::HostPolicy& policy,
         int max_threads, Done done);
  // Drops what has not begun; waits for the calls that run.
  ~Signer();

  void Submit(int64_t transfer_id, absl::string_view storage_urn);

  // Ends the calls that run with CANCELLED, and drops what has not begun:
  // `done` is called for neither. Later calls are not concerned.
  void CancelCalls();

  // Signs now, on the caller's thread.
  absl::StatusOr<bim360::SignedDownload> Sign(absl::string_view storage_urn);

  int max_threads() const { return max_threads_; }

 private:
  struct Job {
    int64_t transfer_id;
    std::string storage_urn;
    std::stop_token cancel;
  };

  void Run();
  absl::StatusOr<bim360::SignedDownload> Sign(absl::string_view storage_urn,
                                              const std::stop_token& cancel);

  bim360::Bim360Client& client_;
  const http::HostPolicy& policy_;
  const int max_threads_;
  const Done done_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  int idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the calls since the last CancelCalls().
  std::stop_source calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::lease

#endif  // SERVICES_COORDINATOR_LEASE_SIGNER_H_
