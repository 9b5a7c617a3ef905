// Which bytes of a transfer are still to fetch, cut into parts.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_PART_PLAN_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_PART_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "services/download_worker/engine/part_fetch.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// A byte range of one transfer and how far it is.
struct Part {
  int64_t begin = 0;
  // Everything before it, from begin, is written.
  int64_t position = 0;
  // Absent for "to the end", of unknown size.
  std::optional<int64_t> end = std::nullopt;
  // Bytes before it are in the storage's journal.
  int64_t recorded = 0;
  // Whether a request runs for it.
  bool running = false;
  // Failures since it last got on by much.
  int failures = 0;
  // On the monotonic clock; no request before it.
  absl::Duration not_before = absl::ZeroDuration();

  bool done() const { return end.has_value() && position >= *end; }
};

struct PartSizes {
  // Files below it are fetched in one request.
  int64_t split_from = 16 << 20;
  // A file above it is cut into four parts, but for these limits.
  int64_t smallest = 8 << 20;
  int64_t largest = 16 << 20;
  // Where nobody else can use the slots, files are cut for so many of them,
  // but not into less than that.
  int spare_slots = 0;
  int64_t smallest_spare = 4 << 20;

  // The parts of a file of `size` bytes.
  int64_t For(int64_t size) const;
};

// INVALID_ARGUMENT, with the reason, for a source that cannot be fetched:
// without ranges, with gaps, or of another size than it says.
absl::Status CheckSource(const Source& source);

// The size that a source tells, if any.
std::optional<int64_t> SourceSize(const Source& source);

// Adds the parts of `range`, in order.
void CutParts(storage::ByteRange range, int64_t part_size,
              std::vector<Part>& parts);

// Cuts what is missing, beyond `recovered` (sorted, disjoint), into parts in
// order. A source of several ranges is cut at their borders, too. Where
// everything was recovered its last part is fetched again, because only an
// answer tells whether the object is still the same. Without a size the
// whole is one part.
std::vector<Part> PlanParts(const Source& source,
                            const std::vector<storage::ByteRange>& recovered,
                            const PartSizes& sizes);

// The request for what is left of `part`, up to the end of the source's range
// that it begins in.
PartRequest NextRequest(const Source& source, const Part& part);

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_PART_PLAN_H_
