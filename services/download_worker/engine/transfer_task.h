// What the engine is given and what it hands back: values without behaviour.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_TASK_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_TASK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bimbackup::engine {

// A signed URL and the bytes of the storage object that it gives.
struct SourceRange {
  // First byte, from 0.
  int64_t first = 0;
  // Last byte, inclusive; -1 for "to the end".
  int64_t last = -1;
  // Secret. Sent byte for byte, never logged.
  std::string url;
};

// Where the bytes of a storage object can be fetched.
struct Source {
  // In order and without gaps from 0.
  std::vector<SourceRange> ranges;
  // Bytes, where known.
  std::optional<int64_t> size;
  // Hexadecimal; empty where unknown.
  std::string sha1;
  // On the engine's monotonic clock; no request starts after it, so it lies
  // somewhat before the URLs expire.
  absl::Duration valid_until = absl::InfiniteDuration();
};

// One storage object to be stored.
struct TransferTask {
  // The coordinator's id of the transfer; 0 for a one-off download.
  int64_t transfer_id = 0;
  // The epoch of its lease.
  int64_t epoch = 0;
  std::string storage_urn;
  // For people.
  std::string display_path;
  Source source;
  // Expected SHA-256, hexadecimal; empty where unknown, as usual.
  std::string sha256;
};

// Classes of endings; transfer.proto says what each stands for.
enum class Outcome {
  kStored,
  kRetryable,
  kRefused,
  kNotFound,
  kCorrupt,
  kInvalid,
  kStorageFailed,
  kReleased,
  kStorageClosed,
};

// How a transfer ended.
struct TransferReport {
  Outcome outcome = Outcome::kRetryable;
  // The blob's digest and size; only where stored.
  std::string sha256;
  int64_t size = 0;
  // What happened, for people; no secret. Empty where stored.
  std::string message;
  // HTTP status of the last answer; 0 where there was none.
  int http_status = 0;
  // Body bytes received, failed requests included.
  int64_t bytes_received = 0;
  // HTTP requests made.
  int requests = 0;
  // Bytes of the storage that are still needed for the whole file, where the
  // storage closed; 0 where nobody knows.
  int64_t room_needed = 0;
};

// Signs URLs again. Thread-safe.
class SourceResolver {
 public:
  virtual ~SourceResolver() = default;

  // Calls `done` once, on any thread, within a deadline of its own, never
  // from inside this call. FAILED_PRECONDITION: the lease is lost.
  // RESOURCE_EXHAUSTED: signed too often. NOT_FOUND: the object is gone.
  // UNAVAILABLE: worth another attempt. DEADLINE_EXCEEDED: the answer was not
  // waited for, which says nothing about the object.
  virtual void Resolve(const TransferTask& task,
                       std::function<void(absl::StatusOr<Source>)> done) = 0;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_TRANSFER_TASK_H_
