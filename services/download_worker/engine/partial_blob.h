// A blob on its way in: its bytes, their digests, and the identity of the
// object that they come from.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_PARTIAL_BLOB_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_PARTIAL_BLOB_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/digest_frontier.h"
#include "services/download_worker/engine/part_fetch.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// Pin(), Write() and the plain getters are thread-safe; the other methods are
// for one thread at a time, Reset() only while nothing writes.
class PartialBlob {
 public:
  // Files of `journal_from` bytes or more have their ranges recorded for a
  // later attempt, and so have those of which something was recovered.
  // `digests` as in EngineOptions.
  PartialBlob(std::unique_ptr<storage::BlobWriter> writer,
              std::string storage_urn, const Source& source,
              int64_t journal_from, bool digests);

  // Takes note of what an answer tells of the object, or compares it with
  // what earlier ones told. FAILED_PRECONDITION when it is another object,
  // else the storage's errors.
  absl::Status Pin(const PartHead& head);

  // Whether an answer has told what the object is.
  bool pinned() const;

  // The size of the file, once known.
  std::optional<int64_t> size() const;

  // The ETag that requests on this range of the source must meet; empty
  // where none is known.
  std::string etag(size_t range_index) const;

  // Writes bytes. Returns true when enough of them wait for CatchUp() and it
  // was not asked for yet.
  absl::StatusOr<bool> Write(int64_t offset, absl::string_view bytes);

  // What an earlier attempt left, if it still counts: sorted, disjoint.
  const std::vector<storage::ByteRange>& recovered() const {
    return writer_->recovered();
  }

  // Counts what was recovered as written, now that the object has proved to
  // be the same. Returns as Write().
  bool AdoptRecovered();

  // Reads back and digests some of what was written, as far as it has no gap;
  // true when more waits.
  absl::StatusOr<bool> CatchUp();

  // Makes a written range durable for a later attempt, where the file is one
  // that is journaled and its object known.
  absl::Status Record(storage::ByteRange range);

  // Whether Record() does anything.
  bool journaled() const;

  // The URLs were signed again and may be cut otherwise now.
  void SetSource(const Source& source);

  // Forgets all bytes, digests and the identity.
  absl::Status Reset(const Source& source);

  // Digested so far, from the start without a gap.
  int64_t digested() const { return frontier_->position(); }
  DigestFrontier::Digests FinishDigests() { return frontier_->Finish(); }

  // Bytes on disk.
  int64_t bytes_done() const { return bytes_done_; }

  storage::BlobWriter& writer() { return *writer_; }

 private:
  absl::Status PinSize(const PartHead& head)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status PinEtag(const PartHead& head)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<DigestFrontier> NewFrontier(const Source& source) const;
  void TakeSource(const Source& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Journaled() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<storage::BlobWriter> writer_;
  const std::string storage_urn_;
  const int64_t journal_from_;
  const bool digests_;
  std::unique_ptr<DigestFrontier> frontier_;
  std::atomic<int64_t> bytes_done_ = 0;

  mutable Mutex mutex_;
  // First byte and, where known, end of each range of the source.
  struct Border {
    int64_t begin = 0;
    std::optional<int64_t> end = std::nullopt;
    std::string etag = "";
  };
  std::vector<Border> borders_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> size_ ABSL_GUARDED_BY(mutex_);
  bool pinned_ ABSL_GUARDED_BY(mutex_) = false;
  bool identity_set_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_PARTIAL_BLOB_H_
