#include "services/file_scan/reader/parallel_source.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "services/file_scan/reader/newline_kernels.h"

namespace bimbackup::file_scan::reader {
namespace {

// Large enough for the kernel to map large pages whole.
constexpr int64_t kWindowBytes = int64_t{2} << 20;
constexpr int kPiecesPerThread = 2;

absl::Duration ThreadCpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

ParallelSource::ParallelSource(std::shared_ptr<const InputFile> file,
                               int64_t offset, int64_t piece_bytes, int threads,
                               int64_t max_line_bytes)
    : file_(std::move(file)),
      piece_bytes_(piece_bytes),
      window_bytes_(std::max(piece_bytes, kWindowBytes)),
      max_line_bytes_(max_line_bytes),
      helpers_(threads - 1),
      pieces_(kPiecesPerThread * threads + 1),
      claim_offset_(offset) {}

ParallelSource::~ParallelSource() { StopHelpers(); }

absl::StatusOr<absl::string_view> ParallelSource::Next() {
  if (absl::Status status = Check(); !status.ok()) return status;
  while (threads_.size() < static_cast<size_t>(helpers_)) {
    threads_.emplace_back([this] { Help(); });
  }
  const Piece* piece = nullptr;
  {
    MutexLock lock(mutex_);
    if (shown_ >= 0) At(shown_).window.reset();
    ++shown_;
    changed_.NotifyAll();
    while (!(shown_ < claimed_ && At(shown_).ready)) {
      if (CanClaim()) {
        ClaimAndWork();
      } else if (shown_ >= claimed_) {
        break;
      } else {
        changed_.Wait(mutex_);
      }
    }
    if (shown_ < claimed_) piece = &At(shown_);
    if (piece == nullptr) --shown_;
  }
  shown_piece_ = piece;
  if (piece == nullptr) {
    StopHelpers();
    return absl::string_view();
  }
  if (!piece->status.ok()) return piece->status;
  return piece->bytes;
}

std::shared_ptr<const void> ParallelSource::Share() const {
  return shown_piece_ == nullptr ? nullptr : shown_piece_->window;
}

absl::Status ParallelSource::Check() {
  if (shown_piece_ == nullptr || shown_piece_->window == nullptr) {
    return absl::OkStatus();
  }
  return shown_piece_->window->Check();
}

const BlockSummary* ParallelSource::Summary() const {
  return shown_piece_ != nullptr && shown_piece_->summary.has_value()
             ? &*shown_piece_->summary
             : nullptr;
}

std::optional<absl::Span<const uint32_t>> ParallelSource::Index() const {
  if (shown_piece_ == nullptr || shown_piece_->summary.has_value()) {
    return std::nullopt;
  }
  return absl::MakeConstSpan(shown_piece_->index.data(),
                             shown_piece_->index_size);
}

ReadStats ParallelSource::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

void ParallelSource::Help() {
  MutexLock lock(mutex_);
  while (!stopped_ && claim_offset_ < file_->size()) {
    if (CanClaim()) {
      ClaimAndWork();
    } else {
      changed_.Wait(mutex_);
    }
  }
  stats_.helper_cpu += ThreadCpu();
}

void ParallelSource::StopHelpers() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool ParallelSource::CanClaim() const {
  // The piece that is shown keeps its place.
  const int64_t oldest = std::max<int64_t>(shown_, 0);
  return claim_offset_ < file_->size() &&
         claimed_ < oldest + static_cast<int64_t>(pieces_.size());
}

void ParallelSource::ClaimAndWork() {
  Piece& piece = At(claimed_);
  Claim(piece);
  ++claimed_;
  mutex_.Unlock();
  if (piece.status.ok()) Work(piece);
  mutex_.Lock();
  piece.ready = true;
  changed_.NotifyAll();
}

void ParallelSource::Claim(Piece& piece) {
  piece.ready = false;
  if (claim_offset_ >= window_end_) {
    window_end_ = std::min(file_->size(),
                           (claim_offset_ / window_bytes_ + 1) * window_bytes_);
    absl::StatusOr<std::shared_ptr<MappedWindow>> window =
        MappedWindow::Map(file_, claim_offset_, window_end_ - claim_offset_);
    if (!window.ok()) {
      piece.status = window.status();
      claim_offset_ = file_->size();
      return;
    }
    window_ = *std::move(window);
    ++stats_.reads;
  }
  const int64_t size = std::min(piece_bytes_, window_end_ - claim_offset_);
  const absl::string_view rest = window_->bytes();
  piece.window = window_;
  piece.bytes = rest.substr(rest.size() - (window_end_ - claim_offset_), size);
  claim_offset_ += size;
  if (claim_offset_ >= file_->size()) window_.reset();
}

void ParallelSource::Work(Piece& piece) {
  if (count_only_.load()) {
    piece.summary =
        Summarise(piece.bytes, known_longest_.load(), max_line_bytes_);
    if (piece.summary->longest_inner > known_longest_.load()) {
      known_longest_.store(piece.summary->longest_inner);
    }
    return;
  }
  piece.summary.reset();
  if (piece.index.size() < piece.bytes.size() + kIndexSlack) {
    piece.index.resize(piece.bytes.size() + kIndexSlack);
  }
  piece.index_size = BestNewlineKernels().index(
      piece.bytes.data(), piece.bytes.size(), piece.index.data());
}

}  // namespace bimbackup::file_scan::reader
