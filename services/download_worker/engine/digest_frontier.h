// Digests of a file whose bytes arrive in any order.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "clients/storage/storage.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/byte_range_set.h"

namespace bimbackup::engine {

// Remembers what was written and reads it back in order, from the page cache
// for the most part. So whoever writes, which is one thread for many files, is
// spared the digests, and those of several files go on at once. Thread-safe;
// CatchUp() and Finish() are for one thread at a time.
class DigestFrontier {
 public:
  // Without any digest, which only benchmarks want, nothing is read back;
  // positions are counted when CatchUp() is called, which none is asked for.
  explicit DigestFrontier(bool with_sha1, bool with_sha256 = true);

  // Tells of bytes that were written, now or by an earlier attempt. Returns
  // true when so many wait to be read back that it is worth a CatchUp(), and
  // none was asked for yet.
  bool AddWritten(storage::ByteRange range);

  // Reads back and digests what waits, at most about `limit` bytes. Returns
  // true when more waits: call again. The writer's errors; DATA_LOSS when it
  // ends early.
  absl::StatusOr<bool> CatchUp(storage::BlobWriter& writer, int64_t limit);

  // Bytes digested: all before this offset.
  int64_t position() const;

  // Lower-case hexadecimal; empty where not asked for.
  struct Digests {
    std::string sha256;
    std::string sha1;
  };

  // The digests of all bytes before position(). Ends the frontier.
  Digests Finish();

 private:
  bool has_digest() const { return sha256_.has_value() || sha1_.has_value(); }

  // For CatchUp() and Finish().
  std::optional<Digest> sha256_;
  std::optional<Digest> sha1_;

  mutable Mutex mutex_;
  int64_t position_ ABSL_GUARDED_BY(mutex_) = 0;
  ByteRangeSet ahead_ ABSL_GUARDED_BY(mutex_);
  bool catch_up_asked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_
