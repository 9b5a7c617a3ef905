#include "services/download_worker/engine/digest_frontier.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/common/status_macros.h"

namespace bimbackup::engine {
namespace {

// Few enough that both digests find them in the cache, and to be on the stack.
constexpr int64_t kReadBackBytes = 32 << 10;
// Their digests take many times as long as it takes to wake a thread for them.
// What is less waits for more, or for the end of the file.
constexpr int64_t kWorthCatchUp = 256 << 10;

}  // namespace

DigestFrontier::DigestFrontier(bool with_sha1, bool with_sha256) {
  if (with_sha256) sha256_.emplace(DigestKind::kSha256);
  if (with_sha1) sha1_.emplace(DigestKind::kSha1);
}

bool DigestFrontier::AddWritten(storage::ByteRange range) {
  MutexLock lock(mutex_);
  ahead_.Add(range);
  if (!has_digest() || catch_up_asked_ ||
      ahead_.EndOfRun(position_) - position_ < kWorthCatchUp) {
    return false;
  }
  catch_up_asked_ = true;
  return true;
}

absl::StatusOr<bool> DigestFrontier::CatchUp(storage::BlobWriter& writer,
                                             int64_t limit) {
  char buffer[kReadBackBytes];
  int64_t position = this->position();
  for (const int64_t stop = position + limit;;) {
    int64_t size = 0;
    {
      MutexLock lock(mutex_);
      position_ = position;
      ahead_.DropBefore(position);
      size = std::min(ahead_.EndOfRun(position) - position, kReadBackBytes);
      if (size == 0 || position >= stop) {
        catch_up_asked_ = size > 0;
        return size > 0;
      }
    }
    if (has_digest()) {
      ABSL_ASSIGN_OR_RETURN(const size_t read,
                            writer.ReadAt(position, buffer, size));
      if (read == 0) {
        return absl::DataLossError(absl::StrCat("bytes written at ", position,
                                                " cannot be read back"));
      }
      const absl::string_view bytes(buffer, read);
      if (sha256_.has_value()) sha256_->Update(bytes);
      if (sha1_.has_value()) sha1_->Update(bytes);
      size = static_cast<int64_t>(read);
    }
    position += size;
  }
}

int64_t DigestFrontier::position() const {
  MutexLock lock(mutex_);
  return position_;
}

DigestFrontier::Digests DigestFrontier::Finish() {
  Digests digests;
  if (sha256_.has_value()) digests.sha256 = sha256_->FinishHex();
  if (sha1_.has_value()) digests.sha1 = sha1_->FinishHex();
  return digests;
}

}  // namespace bimbackup::engine
