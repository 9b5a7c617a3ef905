// What the engine is made with.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_OPTIONS_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_OPTIONS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "services/common/backoff.h"
#include "services/download_worker/engine/part_plan.h"

namespace bimbackup {
class Clock;
class Random;
namespace http {
class HostPolicy;
class HttpTransport;
}  // namespace http
namespace storage {
class Storage;
}  // namespace storage
}  // namespace bimbackup

namespace bimbackup::engine {

class SourceResolver;

// What the engine stands on. Everything outlives it.
struct EngineDeps {
  Clock& clock;
  Random& random;
  http::HttpTransport& transport;
  storage::Storage& storage;
  const http::HostPolicy& hosts;
  SourceResolver& resolver;
};

// Of the transport. One alone is what limits large files where the disk and
// the network do not: it moves about a GB a second.
inline constexpr int kIoThreads = 2;

struct EngineOptions {
  // Requests that run at once, at first and at most; what is between, the
  // engine finds out. At most `slots` where max_slots is less.
  int slots = 32;
  int max_slots = 0;
  // Body bytes a second that are let through at first; 0 for no cap.
  int64_t max_bandwidth = 0;
  // Of one transfer.
  int parts_at_once = 8;
  PartSizes parts;
  // Files below it are not worth a journal.
  int64_t journal_from = 32 << 20;
  // Half of the slots prefer the largest of those transfers that are above
  // it.
  int64_t large_from = 1 << 20;
  // Blobs whose bytes are in and whose commit is awaited, at most.
  int commits_at_once = 256;
  // Whether bytes are digested. Without it, for benchmarks alone, sizes are
  // all that is compared, and blobs are named by the digest of their URN.
  bool digests = true;
  // Threads for what may block on the storage, and for digests, at most.
  int threads = 8;

  // Of one part. An attempt that moves `worthwhile_bytes` does not count.
  Backoff backoff{.initial = absl::Milliseconds(500),
                  .maximum = absl::Seconds(30),
                  .max_attempts = 5};
  int64_t worthwhile_bytes = 1 << 20;
  // How often a file starts again from zero.
  int restarts = 1;
  // How often the URLs of a file are signed again because they expire, one
  // signature being good for an hour.
  int signatures = 48;

  // Fewer than `idle_bytes` within `idle_limit` is a stall.
  absl::Duration idle_limit = absl::Seconds(30);
  int64_t idle_bytes = 16 << 10;
  // A request may take `request_base` and as long as its bytes take at
  // `slowest`; a whole file `file_base` and as long as at a quarter of it.
  absl::Duration request_base = absl::Seconds(60);
  absl::Duration file_base = absl::Minutes(30);
  int64_t slowest_bytes_per_second = 64 << 10;
  // How long after its own limits a request that has not ended is given up
  // by the watchdog.
  absl::Duration watchdog_grace = absl::Seconds(15);

  // The first and the longest wait between looks at a failed storage.
  absl::Duration probe_first = absl::Seconds(2);
  absl::Duration probe_longest = absl::Seconds(30);
  // Between looks for the marker of a storage that does not fail.
  absl::Duration marker_interval = absl::Seconds(5);
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_OPTIONS_H_
