// Blocks of a mapped file whose line ends several threads have found ahead.

#ifndef SERVICES_FILE_SCAN_READER_PARALLEL_SOURCE_H_
#define SERVICES_FILE_SCAN_READER_PARALLEL_SOURCE_H_

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "services/common/mutex.h"
#include "services/file_scan/reader/block_source.h"
#include "services/file_scan/reader/input_file.h"
#include "services/file_scan/reader/mapped_window.h"

namespace bimbackup::file_scan::reader {

// The file is cut into pieces, which threads claim in order and index, or
// summarise, a bounded number ahead of what Next() shows. The thread that
// calls Next() works like the others while what it needs is not ready.
class ParallelSource : public BlockSource {
 public:
  // `threads` includes the caller's. `max_line_bytes` is for summaries.
  ParallelSource(std::shared_ptr<const InputFile> file, int64_t offset,
                 int64_t piece_bytes, int threads, int64_t max_line_bytes);
  ~ParallelSource() override;

  absl::StatusOr<absl::string_view> Next() override;
  std::shared_ptr<const void> Share() const override;
  absl::Status Check() override;
  void CountOnly() override { count_only_.store(true); }
  const BlockSummary* Summary() const override;
  std::optional<absl::Span<const uint32_t>> Index() const override;
  ReadStats stats() const override;

 private:
  // Belongs to the thread that claimed it until it is ready, then to Next().
  struct Piece {
    bool ready = false;
    absl::Status status;
    std::shared_ptr<MappedWindow> window;
    absl::string_view bytes;
    std::optional<BlockSummary> summary;
    std::vector<uint32_t> index;
    size_t index_size = 0;
  };

  void Help();
  void StopHelpers();
  bool CanClaim() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the next piece, works on it without the lock, marks it ready.
  void ClaimAndWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Claim(Piece& piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work(Piece& piece);
  Piece& At(int64_t number) { return pieces_[number % pieces_.size()]; }

  const std::shared_ptr<const InputFile> file_;
  const int64_t piece_bytes_;
  const int64_t window_bytes_;
  const int64_t max_line_bytes_;
  const int helpers_;
  std::atomic<bool> count_only_{false};
  // The length of some line of the file: shorter ones need not be measured.
  std::atomic<int64_t> known_longest_{0};
  // A ring; its size bounds how far the threads get ahead.
  std::vector<Piece> pieces_;
  const Piece* shown_piece_ = nullptr;
  std::vector<std::thread> threads_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  // The numbers of the piece to claim next, and of the one Next() showed.
  int64_t claimed_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t shown_ ABSL_GUARDED_BY(mutex_) = -1;
  // Where the piece to claim next begins, and the window that the last one
  // lies in.
  int64_t claim_offset_ ABSL_GUARDED_BY(mutex_);
  int64_t window_end_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<MappedWindow> window_ ABSL_GUARDED_BY(mutex_);
  ReadStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::file_scan::reader

#endif  // SERVICES_FILE_SCAN_READER_PARALLEL_SOURCE_H_
