#include "services/file_scan/reader/uring_source.h"

#include <liburing.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"

namespace bimbackup::file_scan::reader {
namespace {

absl::Status Unavailable(int error) {
  return absl::UnavailableError(
      absl::StrCat("io_uring is not available here (", std::strerror(error),
                   "); container engines block it by default"));
}

}  // namespace

struct UringSource::Ring {
  ~Ring() { io_uring_queue_exit(&ring); }

  io_uring ring{};
  bool registered = false;
};

absl::StatusOr<std::unique_ptr<UringSource>> UringSource::Create(
    std::shared_ptr<const InputFile> file, int64_t offset,
    int64_t buffer_bytes) {
  io_uring ring{};
  const int result = io_uring_queue_init(2, &ring, 0);
  if (result < 0) return Unavailable(-result);
  auto owned = std::make_unique<Ring>();
  owned->ring = ring;
  std::unique_ptr<UringSource> source(
      new UringSource(std::move(file), offset, buffer_bytes, std::move(owned)));
  iovec buffers[2];
  for (int i = 0; i < 2; ++i) {
    BlockBuffer& buffer = *source->halves_[i].buffer;
    buffers[i] = {buffer.data(), buffer.size()};
  }
  source->ring_->registered =
      io_uring_register_buffers(&source->ring_->ring, buffers, 2) == 0;
  return source;
}

UringSource::UringSource(std::shared_ptr<const InputFile> file, int64_t offset,
                         int64_t buffer_bytes, std::unique_ptr<Ring> ring)
    : file_(std::move(file)), ring_(std::move(ring)), next_offset_(offset) {
  for (Half& half : halves_) {
    half.buffer = std::make_unique<BlockBuffer>(buffer_bytes);
  }
}

UringSource::~UringSource() {
  while (halves_[0].in_flight || halves_[1].in_flight) {
    if (!Reap().ok()) break;
  }
}

absl::StatusOr<absl::string_view> UringSource::Next() {
  if (started_) {
    // The user is done with the block before.
    ABSL_RETURN_IF_ERROR(Start(halves_[1 - next_half_]));
  } else {
    ABSL_RETURN_IF_ERROR(Start(halves_[0]));
    ABSL_RETURN_IF_ERROR(Start(halves_[1]));
    started_ = true;
  }
  Half& half = halves_[next_half_];
  ABSL_RETURN_IF_ERROR(Finish(half));
  next_half_ = 1 - next_half_;
  return absl::string_view(half.buffer->data(), half.got);
}

absl::Status UringSource::Start(Half& half) {
  half.offset = next_offset_;
  half.got = 0;
  half.wanted =
      std::min<int64_t>(half.buffer->size(), file_->size() - next_offset_);
  next_offset_ += half.wanted;
  return half.wanted == 0 ? absl::OkStatus() : Submit(half);
}

absl::Status UringSource::Submit(Half& half) {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_->ring);
  char* data = half.buffer->data() + half.got;
  const unsigned missing = half.wanted - half.got;
  const int64_t offset = half.offset + half.got;
  const int index = &half == &halves_[0] ? 0 : 1;
  if (ring_->registered) {
    io_uring_prep_read_fixed(entry, file_->fd(), data, missing, offset, index);
  } else {
    io_uring_prep_read(entry, file_->fd(), data, missing, offset);
  }
  io_uring_sqe_set_data(entry, &half);
  ++reads_;
  const int submitted = io_uring_submit(&ring_->ring);
  if (submitted < 0) return Unavailable(-submitted);
  half.in_flight = true;
  return absl::OkStatus();
}

absl::Status UringSource::Reap() {
  io_uring_cqe* completion = nullptr;
  int result = 0;
  do {
    result = io_uring_wait_cqe(&ring_->ring, &completion);
  } while (result == -EINTR);
  if (result < 0) return Unavailable(-result);
  Half& half = *static_cast<Half*>(io_uring_cqe_get_data(completion));
  const int got = completion->res;
  io_uring_cqe_seen(&ring_->ring, completion);
  half.in_flight = false;
  if (got == -EINTR || got == -EAGAIN) return Submit(half);
  if (got < 0) {
    return absl::ErrnoToStatus(-got,
                               absl::StrCat("cannot read ", file_->name()));
  }
  if (got == 0) return file_->Shrunk(half.offset + half.got);
  half.got += got;
  return half.got < half.wanted ? Submit(half) : absl::OkStatus();
}

absl::Status UringSource::Finish(Half& half) {
  while (half.got < half.wanted) ABSL_RETURN_IF_ERROR(Reap());
  return absl::OkStatus();
}

}  // namespace bimbackup::file_scan::reader
