// Digests of a file whose bytes arrive in any order.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/byte_range_set.h"

namespace bimbackup::engine {

// Bytes that arrive at the in-order frontier are digested while they are hot;
// what arrived ahead of it is remembered as a range and read back once the
// frontier gets there. Thread-safe; CatchUp() is for one thread at a time.
class DigestFrontier {
 public:
  // Without any digest, which only benchmarks want, positions are counted and
  // nothing is read back.
  explicit DigestFrontier(bool with_sha1, bool with_sha256 = true);

  // Tells of bytes that were just written. Returns true when bytes wait to
  // be read back and no CatchUp() was asked for yet.
  bool OnWritten(int64_t offset, absl::string_view bytes);

  // Tells of bytes that an earlier attempt wrote. Returns as OnWritten().
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
  void Update(absl::string_view bytes);
  bool WantsCatchUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // For whoever has set digesting_.
  std::optional<Digest> sha256_;
  std::optional<Digest> sha1_;

  mutable Mutex mutex_;
  int64_t position_ ABSL_GUARDED_BY(mutex_) = 0;
  ByteRangeSet ahead_ ABSL_GUARDED_BY(mutex_);
  bool digesting_ ABSL_GUARDED_BY(mutex_) = false;
  bool catch_up_asked_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_DIGEST_FRONTIER_H_
