// Looks whether one blob is there and, where asked, reads it again.

#ifndef CLIENTS_VERIFY_BLOB_CHECKER_H_
#define CLIENTS_VERIFY_BLOB_CHECKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/storage/storage.h"
#include "clients/verify/damage.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"

namespace bimbackup::verify {

// What is wrong with a blob.
struct BlobFault {
  DamageKind kind = DamageKind::kMissingBlob;
  std::string message;
};

// Not thread-safe.
class BlobChecker {
 public:
  // Called at least twice a second while something is read or waited for,
  // with the bytes read since; an error ends the check with it.
  using OnBytes = std::function<absl::Status(int64_t bytes)>;

  // At most `max_bandwidth` bytes a second are read; 0 for no limit. Storage
  // and clock outlive the checker.
  BlobChecker(storage::Storage& storage, Clock& clock, int64_t max_bandwidth,
              OnBytes on_bytes);

  // What is wrong; nothing where it is as it should be. Errors are those of
  // `on_bytes` alone: whether a blob that cannot be read is damaged, or the
  // storage has failed, is for the caller to find out.
  absl::StatusOr<std::optional<BlobFault>> Check(absl::string_view sha256,
                                                 std::optional<int64_t> size,
                                                 bool read);

 private:
  absl::StatusOr<std::optional<BlobFault>> Read(absl::string_view sha256,
                                                int64_t size);
  // Tells of the bytes, then waits until they are paid for.
  absl::Status Account(int64_t bytes);

  storage::Storage& storage_;
  Clock& clock_;
  const int64_t max_bandwidth_;
  const OnBytes on_bytes_;
  std::string buffer_;
  // Up to when everything read is paid for.
  absl::Duration paid_until_ = -absl::InfiniteDuration();
  // Only to wait on the clock.
  Mutex mutex_;
  CondVar never_;
};

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_BLOB_CHECKER_H_
