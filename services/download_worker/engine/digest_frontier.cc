#include "services/download_worker/engine/digest_frontier.h"

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace bimbackup::engine {
namespace {

// Large enough to amortise a read, small enough to stay in the cache.
constexpr int64_t kReadBackBytes = 256 << 10;

}  // namespace

DigestFrontier::DigestFrontier(bool with_sha1, bool with_sha256) {
  if (with_sha256) sha256_.emplace(DigestKind::kSha256);
  if (with_sha1) sha1_.emplace(DigestKind::kSha1);
}

void DigestFrontier::Update(absl::string_view bytes) {
  if (sha256_.has_value()) sha256_->Update(bytes);
  if (sha1_.has_value()) sha1_->Update(bytes);
}

bool DigestFrontier::WantsCatchUp() {
  if (digesting_ || catch_up_asked_ ||
      ahead_.EndOfRun(position_) == position_) {
    return false;
  }
  catch_up_asked_ = true;
  return true;
}

bool DigestFrontier::OnWritten(int64_t offset, absl::string_view bytes) {
  const int64_t end = offset + static_cast<int64_t>(bytes.size());
  {
    MutexLock lock(mutex_);
    if (digesting_ || offset != position_) {
      ahead_.Add({offset, end});
      return WantsCatchUp();
    }
    digesting_ = true;
  }
  Update(bytes);
  MutexLock lock(mutex_);
  digesting_ = false;
  position_ = end;
  ahead_.DropBefore(position_);
  return WantsCatchUp();
}

bool DigestFrontier::AddWritten(storage::ByteRange range) {
  MutexLock lock(mutex_);
  ahead_.Add(range);
  return WantsCatchUp();
}

absl::StatusOr<bool> DigestFrontier::CatchUp(storage::BlobWriter& writer,
                                             int64_t limit) {
  std::unique_ptr<char[]> buffer;
  int64_t buffer_size = 0;
  for (int64_t done = 0;;) {
    int64_t position = 0;
    int64_t size = 0;
    {
      MutexLock lock(mutex_);
      // Whoever digests now asks for another catch-up when it ends.
      if (done == 0 && digesting_) {
        catch_up_asked_ = false;
        return false;
      }
      position = position_;
      size = std::min(ahead_.EndOfRun(position) - position, kReadBackBytes);
      digesting_ = size > 0 && done < limit;
      if (!digesting_) {
        catch_up_asked_ = size > 0;
        return size > 0;
      }
    }
    absl::StatusOr<size_t> read = size;
    if (sha256_.has_value() || sha1_.has_value()) {
      if (buffer_size < size) {
        // Only where there is something to read, no more than that, and not
        // filled with zeros: every file comes here at its end, and a whole
        // buffer costs a small one about as much as its digests.
        buffer = std::make_unique_for_overwrite<char[]>(size);
        buffer_size = size;
      }
      read = writer.ReadAt(position, buffer.get(), size);
    }
    if (read.ok() && *read == 0) {
      read = absl::DataLossError(
          absl::StrCat("bytes written at ", position, " cannot be read back"));
    }
    if (read.ok()) Update(absl::string_view(buffer.get(), *read));
    MutexLock lock(mutex_);
    // Stays set across rounds, so that no hot byte slips in between.
    digesting_ = read.ok();
    if (!read.ok()) return read.status();
    position_ = position + static_cast<int64_t>(*read);
    ahead_.DropBefore(position_);
    done += static_cast<int64_t>(*read);
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
