// The download worker, whole: the one place that names concrete classes.

#ifndef SERVICES_DOWNLOAD_WORKER_SERVER_H_
#define SERVICES_DOWNLOAD_WORKER_SERVER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/download_worker/options.h"

namespace bimbackup::download_worker {

// A running worker. Thread-safe.
class DownloadWorkerServer {
 public:
  // Opens the storage, listens, dials the coordinator. Where the storage has
  // no marker yet, waits for the coordinator to make it, for at most
  // `options.storage_wait`, or until `interrupted`, which is asked about
  // four times a second and may wait itself (0.25 s), says true: CANCELLED
  // then. INVALID_ARGUMENT or FAILED_PRECONDITION with one clear line for
  // what is configured wrongly, else the storage's errors.
  static absl::StatusOr<std::unique_ptr<DownloadWorkerServer>> Start(
      const Options& options, bool (*interrupted)() = nullptr);

  // Drops everything at once, as a crash would, but for leases' bytes that
  // are recorded for a successor.
  ~DownloadWorkerServer();

  // host:port of DownloadWorkerService.
  const std::string& address() const;

  // The id under which the coordinator knows this worker.
  const std::string& worker_id() const;

  // Takes nothing more, finishes what runs within the grace, gives back the
  // rest. Returns at once; idempotent.
  void Drain();

  // Waits for the end for at most `timeout`. Nothing while the worker runs;
  // OK after a drain; FAILED_PRECONDITION when the coordinator refuses this
  // worker.
  std::optional<absl::Status> Wait(absl::Duration timeout);

 private:
  struct Parts;
  explicit DownloadWorkerServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace bimbackup::download_worker

#endif  // SERVICES_DOWNLOAD_WORKER_SERVER_H_
